// SPDX-License-Identifier: Apache-2.0
// NodeScope: the scope of a node, `layer/sublayer`, as references to existing text, because the constexpr limits count
// operations per character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crochet {

/// A text in a few parts, separated by slashes. The parts refer to text owned elsewhere.
struct NodeScope {
  static constexpr std::int32_t room = 3;
  struct Part {
    const char* text = nullptr;
    std::int32_t length = 0;
  };
  Part parts[room];
  std::int32_t count = 0;

  constexpr NodeScope() = default;
  constexpr explicit NodeScope(std::string_view text) : count(text.empty() ? 0 : 1) {
    parts[0] = {text.data(), static_cast<std::int32_t>(text.size())};
  }
  constexpr bool empty() const { return count == 0; }
  constexpr std::int32_t length() const {
    std::int32_t n = count == 0 ? 0 : count - 1;
    for (std::int32_t p = 0; p < count; ++p) n += parts[p].length;
    return n;
  }
};

namespace detail {

/// The part before the last '/'; empty if there is none.
constexpr std::string_view scope_of_name(std::string_view name) {
  std::size_t slash = name.size();
  while (slash > 0 && name.data()[slash - 1] != '/') --slash;
  return {name.data(), slash == 0 ? 0 : slash - 1};
}
constexpr NodeScope outer_scope(NodeScope scope) {
  if (scope.empty()) return scope;
  NodeScope::Part& last = scope.parts[scope.count - 1];
  last.length = static_cast<std::int32_t>(scope_of_name({last.text, static_cast<std::size_t>(last.length)}).size());
  if (last.length == 0) --scope.count;
  return scope;
}
constexpr NodeScope inner_scope(NodeScope scope, std::string_view text) {
  if (scope.empty()) return NodeScope(text);
  if (scope.count == NodeScope::room) return scope;
  scope.parts[scope.count++] = {text.data(), static_cast<std::int32_t>(text.size())};
  return scope;
}

/// Reads a scope character by character.
class ScopeReader {
 public:
  constexpr explicit ScopeReader(const NodeScope& scope) : part_(scope.parts) {}
  constexpr char next() {
    if (at_ < part_->length) return part_->text[at_++];
    ++part_;
    at_ = 0;
    return '/';
  }

 private:
  const NodeScope::Part* part_;
  std::int32_t at_ = 0;
};
/// Whether the first n characters are equal; both have at least n. Parts that refer to the same text are not compared.
constexpr bool same_characters(const NodeScope& a, const NodeScope& b, std::int32_t n) {
  if (a.count > 0 && b.count > 0 && a.parts[0].text == b.parts[0].text && n <= a.parts[0].length &&
      n <= b.parts[0].length) {
    return true;
  }
  ScopeReader x(a), y(b);
  for (std::int32_t i = 0; i < n; ++i) {
    if (x.next() != y.next()) return false;
  }
  return true;
}
constexpr bool same_parts(const NodeScope& a, const NodeScope& b) {
  if (a.count != b.count) return false;
  for (std::int32_t p = 0; p < a.count; ++p) {
    if (a.parts[p].text != b.parts[p].text || a.parts[p].length != b.parts[p].length) return false;
  }
  return true;
}
constexpr bool same_scope(const NodeScope& a, const NodeScope& b) {
  if (same_parts(a, b)) return true;
  const std::int32_t n = a.length();
  return n == b.length() && same_characters(a, b, n);
}
/// Whether `inner` begins with `outer` and a slash.
constexpr bool is_within(const NodeScope& inner, const NodeScope& outer) {
  const std::int32_t n = outer.length();
  if (inner.length() <= n || !same_characters(inner, outer, n)) return false;
  ScopeReader reader(inner);
  for (std::int32_t i = 0; i < n; ++i) reader.next();
  return reader.next() == '/';
}
constexpr NodeScope common_scope(NodeScope a, const NodeScope& b) {
  while (!a.empty() && !same_scope(a, b) && !is_within(b, a)) a = outer_scope(a);
  return a;
}
/// Whether the scope ends with a slash and this text.
constexpr bool ends_within(const NodeScope& scope, std::string_view text) {
  const std::int32_t skipped = scope.length() - static_cast<std::int32_t>(text.size()) - 1;
  if (skipped < 0) return false;
  ScopeReader reader(scope);
  for (std::int32_t i = 0; i < skipped; ++i) reader.next();
  if (reader.next() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (reader.next() != text.data()[i]) return false;
  }
  return true;
}

}  // namespace detail

}  // namespace crochet

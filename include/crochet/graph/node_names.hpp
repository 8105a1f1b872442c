// SPDX-License-Identifier: Apache-2.0
// Names for all nodes of a graph: unique, in scopes that fold, legal in TensorFlow. Models name what they fetch; a
// drawing, a dump and a watch need a name for each node. The rules run in the compiler too, where a watch is matched:
// names are told as references to text that is there already, since compilers count what is done for each character.
// Stages are functions of their own, so that each can be a constant of its own.
//
// A named node keeps its name. Any other is `<scope>/<operation>`: it lies in the scope of a variable that it uses
// (`hidden/kernel`: `hidden`), else where all its inputs lie; what gradients() made in `gradients`; constants with
// their first user; what is left, and what comes after the gradients, in the scope that all its users share; what only
// a named target needs in a scope of the target's name; an assignment in `<scope>/<variable>`. A second one of a name
// gets
// `_1`, a third `_2`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/error.hpp>
#include <crochet/graph/legal_name.hpp>
#include <crochet/graph/sequence.hpp>
#include <crochet/graph/table.hpp>

namespace crochet {

/// A text in a few parts with slashes between them. The parts are others' texts.
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

/// A node's name in parts: `scope/base_number`, or `base_number` in no scope; number 0: none.
struct NodeName {
  NodeScope scope;
  std::string_view base;
  std::int32_t number = 0;
};

namespace detail {

/// No literal: compilers refuse to compare the addresses of those.
inline constexpr char gradients_scope[] = {'g', 'r', 'a', 'd', 'i', 'e', 'n', 't', 's'};

/// What is before the last '/'; nothing if there is none.
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
/// Whether the first n characters are the same; both have so many. Parts that are one text need no look.
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

/// The scopes of all nodes, in two sweeps.
class NodeScopes {
 public:
  constexpr NodeScopes(std::span<const GraphTable::Node> nodes, NodeScope* scopes)
      : nodes_(nodes.data()), count_(static_cast<std::int32_t>(nodes.size())), scopes_(scopes) {
    while (first_gradient_ < count_ && !nodes_[first_gradient_].of_gradients) ++first_gradient_;
  }

  /// From inputs to users.
  constexpr void sweep_forward() {
    for (std::int32_t i = 0; i < count_; ++i) scopes_[i] = forward_scope(nodes_[i]);
  }
  /// From users to inputs.
  constexpr void sweep_backward() {
    find_users();
    for (std::int32_t i = count_; i-- > 0;) {
      if (belongs_to_its_users(i)) scopes_[i] = scope_of_users(i);
    }
  }

 private:
  constexpr NodeScope forward_scope(const GraphTable::Node& n) const {
    if (!n.name.empty()) return NodeScope(scope_of_name(n.name));
    if (n.of_gradients) return NodeScope({gradients_scope, sizeof gradients_scope});
    if (n.kind == OpKind::source) return {};
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const GraphTable::Node& in = nodes_[n.inputs[k]];
      if (in.kind == OpKind::source && in.op == "variable") return scopes_[n.inputs[k]];
    }
    NodeScope common;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      if (nodes_[n.inputs[k]].kind == OpKind::source) continue;
      const NodeScope& scope = scopes_[n.inputs[k]];
      if (!common.empty() && !same_scope(scope, common)) return {};
      common = scope;
    }
    return common;
  }

  constexpr void find_users() {
    first_user_.assign(static_cast<std::size_t>(count_) + 2, 0);
    std::int32_t* const first = first_user_.data();
    for (std::int32_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < max_inputs && nodes_[i].inputs[k] >= 0; ++k) ++first[nodes_[i].inputs[k] + 2];
    }
    for (std::int32_t i = 0; i < count_; ++i) first[i + 2] += first[i + 1];
    users_.assign(static_cast<std::size_t>(first[count_ + 1]), 0);
    std::int32_t* const users = users_.data();
    for (std::int32_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < max_inputs && nodes_[i].inputs[k] >= 0; ++k) {
        users[first[nodes_[i].inputs[k] + 1]++] = i;
      }
    }
  }

  /// Constants; what comes after the gradients, the optimizer; what has found no scope.
  constexpr bool belongs_to_its_users(std::int32_t i) const {
    const GraphTable::Node& n = nodes_[i];
    if (!n.name.empty() || n.of_gradients || first_user_.data()[i] == first_user_.data()[i + 1]) return false;
    return n.kind == OpKind::source || i > first_gradient_ || scopes_[i].empty();
  }
  /// A constant lies with its first user; other nodes in the scope that all users share.
  constexpr NodeScope scope_of_users(std::int32_t i) const {
    const std::int32_t* const users = users_.data();
    const std::int32_t begin = first_user_.data()[i], end = first_user_.data()[i + 1];
    NodeScope common = scope_for_inputs(users[begin]);
    if (nodes_[i].kind == OpKind::source) return common;
    for (std::int32_t u = begin + 1; u < end; ++u) common = common_scope(common, scope_for_inputs(users[u]));
    if (nodes_[i].kind != OpKind::assign) return common;
    return scope_of_assignment(common, nodes_[nodes_[i].inputs[0]].name);
  }
  /// What only a named target needs lies in a scope of the target's name.
  constexpr NodeScope scope_for_inputs(std::int32_t user) const {
    const GraphTable::Node& n = nodes_[user];
    return n.kind == OpKind::group && !n.name.empty() ? NodeScope(n.name) : scopes_[user];
  }
  /// `train/<variable>`. Of a slot `hidden/kernel/Adam` within `train/hidden/kernel`: `train/hidden/kernel/Adam`.
  static constexpr NodeScope scope_of_assignment(const NodeScope& scope, std::string_view variable) {
    const std::string_view owner = scope_of_name(variable);
    if (!owner.empty() && ends_within(scope, owner)) variable.remove_prefix(owner.size() + 1);
    return inner_scope(scope, variable);
  }

  const GraphTable::Node* nodes_;
  std::int32_t count_;
  NodeScope* scopes_;
  std::int32_t first_gradient_ = 0;
  Sequence<std::int32_t> first_user_, users_;  ///< by node: where its users begin in the list of all
};

/// Hands `put` the characters of a name, legal ones only, without its number.
template <class Put>
constexpr void spell_unnumbered(const NodeName& name, Put& put) {
  LegalName legal(put);
  for (std::int32_t p = 0; p < name.scope.count; ++p) {
    legal.add({name.scope.parts[p].text, static_cast<std::size_t>(name.scope.parts[p].length)});
    legal.add('/');
  }
  legal.add(name.base);
  if (legal.empty()) throw LogicError("crochet: the name of a node has no letter that TensorFlow knows; name it");
}
template <class Put>
constexpr void spell_number(std::int32_t number, Put& put) {
  if (number == 0) return;
  put('_');
  std::int32_t digit = 1;
  while (number / digit >= 10) digit *= 10;
  for (; digit > 0; digit /= 10) put(static_cast<char>('0' + number / digit % 10));
}

/// FNV-1a, 64 bits.
struct NameHash {
  std::uint64_t value = 14695981039346656037U;
  constexpr void operator()(char c) { value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U; }
};

/// Numbers names so that no two are the same; all names together.
class NodeNumbers {
 public:
  constexpr NodeNumbers(std::span<const GraphTable::Node> nodes, const NodeScope* scopes, NodeName* names)
      : nodes_(nodes.data()),
        count_(nodes.size()),
        scopes_(scopes),
        names_(names),
        mask_(std::bit_ceil(2 * nodes.size() + 1) - 1),
        slots_(mask_ + 1) {}

  /// Named nodes first: they keep their names.
  constexpr void run() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!nodes_[i].name.empty()) number(i, {{}, nodes_[i].name, 0});
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (nodes_[i].name.empty()) number(i, {scopes_[i], nodes_[i].op, 0});
    }
  }

 private:
  /// A name that is taken. `next`: the least number that may be free behind it.
  struct Taken {
    std::uint64_t hash = 0;
    std::int32_t node = -1, next = 1;
  };

  constexpr void number(std::size_t i, const NodeName& wanted) {
    const NameHash plain = hash_of_unnumbered(wanted);
    NodeName name = wanted;
    Taken& first = find(plain.value, name);
    if (first.node >= 0) {
      for (name.number = first.next;; ++name.number) {
        NameHash numbered = plain;
        spell_number(name.number, numbered);
        Taken& slot = find(numbered.value, name);
        if (slot.node >= 0) continue;
        first.next = name.number + 1;
        slot = {numbered.value, static_cast<std::int32_t>(i), 1};
        break;
      }
    } else {
      first = {plain.value, static_cast<std::int32_t>(i), 1};
    }
    names_[i] = name;
  }
  /// Neighbours mostly lie in one scope.
  constexpr NameHash hash_of_unnumbered(const NodeName& name) {
    NameHash hash;
    spell_unnumbered(name, hash);
    return hash;
  }

  /// Where a name is, or belongs.
  constexpr Taken& find(std::uint64_t hash, const NodeName& name) {
    Taken* const slots = slots_.data();
    std::size_t h = static_cast<std::size_t>(hash >> 20U) & mask_;
    while (slots[h].node >= 0 && !(slots[h].hash == hash && same(names_[slots[h].node], name))) h = (h + 1) & mask_;
    return slots[h];
  }
  static constexpr bool same(const NodeName& a, const NodeName& b) {
    if (a.number == b.number && a.base == b.base && same_parts(a.scope, b.scope)) return true;
    const TextPool x = spelt(a), y = spelt(b);
    return x.view() == y.view();
  }
  static constexpr TextPool spelt(const NodeName& name) {
    TextPool text;
    const auto put = [&](char c) { text.append({&c, 1}); };
    spell_unnumbered(name, put);
    spell_number(name.number, put);
    return text;
  }

  const GraphTable::Node* nodes_;
  std::size_t count_;
  const NodeScope* scopes_;
  NodeName* names_;
  std::size_t mask_;
  Sequence<Taken> slots_;
};

}  // namespace detail

/// The name, spelt out: `put(char)` for each of its characters.
template <class Put>
constexpr void spell_node_name(const NodeName& name, Put put) {
  detail::spell_unnumbered(name, put);
  detail::spell_number(name.number, put);
}

/// A name for each node. Throws LogicError if a node's own name has no character that TensorFlow takes.
inline std::vector<std::string> node_names(const GraphTable& graph) {
  Sequence<NodeScope> scopes(graph.nodes.size());
  detail::NodeScopes finder(graph.nodes, scopes.data());
  finder.sweep_forward();
  finder.sweep_backward();
  Sequence<NodeName> parts(graph.nodes.size());
  detail::NodeNumbers(graph.nodes, scopes.data(), parts.data()).run();
  std::vector<std::string> names(graph.nodes.size());
  for (std::size_t i = 0; i < names.size(); ++i) spell_node_name(parts[i], [&](char c) { names[i] += c; });
  return names;
}

/// The same in the compiler, for a table that is a constant.
template <const auto& Nodes>
struct NodeNames {
 private:
  static constexpr std::size_t count = Nodes.size();
  struct Scopes {
    NodeScope of[count == 0 ? 1 : count];
  };
  static constexpr Scopes forward = [] {
    Scopes all{};
    detail::NodeScopes(Nodes, all.of).sweep_forward();
    return all;
  }();
  static constexpr Scopes scopes = [] {
    Scopes all = forward;
    detail::NodeScopes(Nodes, all.of).sweep_backward();
    return all;
  }();
  struct Names {
    NodeName of[count == 0 ? 1 : count];
  };
  static constexpr Names names = [] {
    Names all{};
    detail::NodeNumbers(Nodes, scopes.of, all.of).run();
    return all;
  }();

 public:
  static constexpr const NodeName& of(std::size_t node) { return names.of[node]; }
};

/// An operation's name as a GraphDef has it: `reduce_mean` becomes `ReduceMean`, `conv2d` `Conv2D`; sources and
/// products have TensorFlow's.
class GraphOpName {
 public:
  constexpr explicit GraphOpName(std::string_view op) {
    constexpr std::string_view known[][2] = {{"variable", "VariableV2"},
                                             {"constant", "Const"},
                                             {"group", "NoOp"},
                                             {"matmul", "MatMul"},
                                             {"batched_matmul", "BatchMatMul"}};
    for (const auto& spelt : known) {
      if (op == spelt[0]) {
        copy(spelt[1]);
        return;
      }
    }
    bool begins = true;
    for (const char c : op) {
      if (c != '_') put(begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
      begins = c == '_' || c == '2';  // 2D
    }
  }
  constexpr std::string_view view() const { return {text_, size_}; }

 private:
  static constexpr std::size_t room = 64;
  constexpr void copy(std::string_view text) {
    for (const char c : text) put(c);
  }
  constexpr void put(char c) {
    if (size_ < room) text_[size_++] = c;
  }

  char text_[room]{};
  std::size_t size_ = 0;
};

}  // namespace crochet

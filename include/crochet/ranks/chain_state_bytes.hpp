// SPDX-License-Identifier: Apache-2.0
// The state of a chain's hooks as bytes, for ranks of one program: equal types on equal machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/chain_state.hpp>

namespace crochet::detail {

class StateBytesWriter {
 public:
  static std::vector<std::byte> of(const ChainState& state) {
    StateBytesWriter w;
    w.number(state.sections.size());
    for (const StateSection& section : state.sections) {
      w.text(section.key);
      w.number(section.fields.size());
      for (const StateField& field : section.fields) w.field(field);
    }
    return std::move(w.bytes_);
  }

 private:
  void raw(const void* from, std::size_t n) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + n);
  }
  void number(std::uint64_t n) { raw(&n, sizeof n); }
  void text(std::string_view t) { number(t.size()), raw(t.data(), t.size()); }
  void field(const StateField& f) {
    text(f.key);
    number(static_cast<std::uint64_t>(f.type)), number(f.is_list ? 1 : 0), number(f.count);
    number(f.bytes.size()), raw(f.bytes.data(), f.bytes.size());
    number(f.texts.size());
    for (const std::string& t : f.texts) text(t);
  }

  std::vector<std::byte> bytes_;
};

/// Throws DataLossError if the bytes end too early, or are not those of a state.
class StateBytesReader {
 public:
  static ChainState from(std::span<const std::byte> bytes) {
    StateBytesReader r{bytes};
    ChainState state;
    for (std::uint64_t n = r.number(); n > 0; --n) {
      StateSection section{r.text(), {}};
      for (std::uint64_t fields = r.number(); fields > 0; --fields) section.fields.push_back(r.field());
      state.sections.push_back(std::move(section));
    }
    if (!r.left_.empty()) fail("has further bytes behind its end");
    return state;
  }

 private:
  explicit StateBytesReader(std::span<const std::byte> bytes) : left_(bytes) {}

  [[noreturn]] CROCHET_COLD static void fail(const std::string& why) {
    throw DataLossError("crochet: the chief's hook state " + why + "; run the same program on all ranks");
  }

  std::span<const std::byte> raw(std::uint64_t n) {
    if (n > left_.size()) fail("arrived incomplete");
    const auto taken = left_.first(static_cast<std::size_t>(n));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t n = 0;
    std::memcpy(&n, raw(sizeof n).data(), sizeof n);
    return n;
  }
  std::string text() {
    const auto bytes = raw(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  StateField field() {
    StateField f;
    f.key = text();
    const std::uint64_t type = number();
    if (type > static_cast<std::uint64_t>(StateType::text)) fail("has a value of an unknown type");
    f.type = static_cast<StateType>(type);
    f.is_list = number() != 0;
    f.count = static_cast<std::size_t>(number());
    const auto bytes = raw(number());
    f.bytes.assign(bytes.begin(), bytes.end());
    for (std::uint64_t texts = number(); texts > 0; --texts) f.texts.push_back(text());
    if (!is_consistent(f)) fail("has a value of another size");
    return f;
  }
  /// Whether the values are as many as the field says: they are read by that number.
  static bool is_consistent(const StateField& f) {
    if (!f.is_list && f.count != 1) return false;
    if (f.type == StateType::text) return f.bytes.empty() && f.texts.size() == f.count;
    const std::size_t width = size_of(f.type);
    return f.texts.empty() && f.bytes.size() % width == 0 && f.bytes.size() / width == f.count;
  }

  std::span<const std::byte> left_;
};

}  // namespace crochet::detail

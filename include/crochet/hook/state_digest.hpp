// SPDX-License-Identifier: Apache-2.0
// StateDigest: whether the state of a chain's hooks has changed, without a copy of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <crochet/hook/shared_state_writer.hpp>
#include <crochet/hook/state.hpp>

namespace crochet::detail {

/// A hash of what hooks save, FNV-1a in words of 8 bytes. Values whose key contains "seconds" do not count: they change
/// with the clock. About 0.8 ns per 8 bytes, and what the hooks take to write their state.
class StateDigest final : public SharedStateWriter {
 public:
  /// Of the hooks of a session; of a substitute for one in a test, which has none, a constant.
  template <class Session>
  static std::uint64_t of(const Session& session) {
    StateDigest digest;
    if constexpr (requires { session.save_hook_state(digest); }) session.save_hook_state(digest);
    return digest.hash_;
  }

 protected:
  void write(std::string_view key, const StateValue& value) override {
    if (key.find("seconds") != std::string_view::npos) return;
    add(key);
    if (value.type != StateType::text) {
      return add({static_cast<const char*>(value.data), value.count * size_of(value.type)});
    }
    for (const std::string& text : std::span(static_cast<const std::string*>(value.data), value.count)) add(text);
  }
  void enter(std::string_view name) override { add(name); }
  void leave() override {}

 private:
  void add(std::string_view bytes) {
    mix(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t part = std::min(sizeof word, bytes.size());
      std::memcpy(&word, bytes.data(), part);
      mix(word);
      bytes.remove_prefix(part);
    }
  }
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3U;
    hash_ ^= hash_ >> 32;  // a product moves bits up only
  }

  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace crochet::detail

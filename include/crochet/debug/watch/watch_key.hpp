// SPDX-License-Identifier: Apache-2.0
// WatchKey: a node, its output slot and a debug operation.
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace crochet::debug {

/// Written `node:slot:DebugOp`, as in `dense/kernel:0:DebugIdentity`: TensorFlow's "debug node name".
struct WatchKey {
  std::string node;
  std::int32_t slot = 0;
  std::string debug_op;

  auto operator<=>(const WatchKey&) const = default;  // NOLINT(modernize-use-nullptr): the compiler writes `<=> 0`
};

inline std::string to_string(const WatchKey& key) {
  return key.node + ":" + std::to_string(key.slot) + ":" + key.debug_op;
}

/// Returns nothing for text that is not a watch key: a part is missing, or the slot is not a number >= 0.
inline std::optional<WatchKey> parse_watch_key(std::string_view text) {
  const std::size_t op = text.rfind(':');
  if (op == std::string_view::npos || op == 0 || op + 1 == text.size()) return std::nullopt;
  const std::size_t slot = text.rfind(':', op - 1);
  if (slot == std::string_view::npos || slot == 0 || slot + 1 == op) return std::nullopt;
  WatchKey key{std::string(text.substr(0, slot)), 0, std::string(text.substr(op + 1))};
  const auto [end, error] = std::from_chars(text.data() + slot + 1, text.data() + op, key.slot);
  if (error != std::errc{} || end != text.data() + op || key.slot < 0) return std::nullopt;
  return key;
}

}  // namespace crochet::debug

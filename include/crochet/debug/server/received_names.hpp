// SPDX-License-Identifier: Apache-2.0
// Validates names from a peer that become parts of file names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/stream_limits.hpp>
#include <crochet/debug/watch/watch_key.hpp>

namespace crochet::debug {

constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
/// The characters of TensorFlow's node names, except the slash.
constexpr bool is_name_character(char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-' || c == '>'; }

/// No part between slashes is empty, `.` or `..`, so that the name as a path stays below its folder.
inline bool is_legal_node_name(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || !std::all_of(part.begin(), part.end(), is_name_character)) {
      return false;
    }
    if (slash == std::string_view::npos) return !part.starts_with("_tfdbg_graph_");  // prefix of graph files
    name.remove_prefix(slash + 1);
  }
}

inline void require_node_name(std::string_view name, const StreamLimits& limits) {
  require_at_most(name.size(), limits.name_bytes, "bytes in the name of a node");
  if (!is_legal_node_name(name)) stream_is_wrong(printable(name) + " cannot be the name of a node");
}

/// For example `/job:localhost/replica:0/task:0/device:CPU:0`. Commas and bars are separators of the protocol.
inline void require_device_name(std::string_view name, const StreamLimits& limits) {
  require_at_most(name.size(), limits.name_bytes, "bytes in the name of a device");
  const auto good = [](char c) { return is_name_character(c) || c == ':' || c == '/'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), good)) {
    stream_is_wrong(printable(name) + " cannot be the name of a device");
  }
}

/// A watch key with valid names. The name of a debug operation has only letters and digits, because file names require
/// it.
inline WatchKey require_watch_key(std::string_view text, const StreamLimits& limits) {
  require_at_most(text.size(), 2 * limits.name_bytes, "bytes in a watch key");
  std::optional<WatchKey> key = parse_watch_key(text);
  if (!key) stream_is_wrong(printable(text) + " is no watch key, node:slot:DebugOp");
  require_node_name(key->node, limits);
  const std::string& op = key->debug_op;
  if (op.size() > 64 || !std::all_of(op.begin(), op.end(), is_alphanumeric)) {
    stream_is_wrong(printable(op) + " cannot be the name of a debug op");
  }
  return *std::move(key);
}

/// Times are microseconds since 1970, below 2^53, where a double is exact.
inline std::int64_t require_time(double microseconds) {
  if (!(microseconds >= 0 && microseconds < 9007199254740992.0)) stream_is_wrong("an event has an impossible time");
  return static_cast<std::int64_t>(microseconds);
}

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// Names that are safe as paths: no node or device, whoever named it, leads out of a dump.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/graph_hash.hpp>

namespace crochet::debug {

namespace detail {

/// Bytes of one part of a path: a file's also has slot, operation and time behind it, and 255 is the most.
inline constexpr std::size_t max_part_length = 150;
inline constexpr std::size_t max_name_length = 1000;
inline constexpr std::string_view graph_file_prefix = "_tfdbg_graph_";

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_legal_in_a_name(char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-'; }

constexpr bool is_safe_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= max_part_length &&
         !part.starts_with(graph_file_prefix) && std::all_of(part.begin(), part.end(), is_legal_in_a_name);
}

/// The part with what does not belong in it replaced.
inline std::string made_safe(std::string_view part) {
  std::string safe;
  for (const char c : part.substr(0, max_part_length - 30)) safe += is_legal_in_a_name(c) ? c : '_';
  if (!is_safe_part(safe)) safe.insert(0, "node_");  // asked of what it became: `_` may make a graph's name of it
  return safe;
}

/// Calls `visit` for each part between slashes, also for empty ones.
template <class Visit>
constexpr void each_part(std::string_view name, Visit&& visit) {
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
    visit(name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
  visit(name);
}

}  // namespace detail

/// Can the node's name be the path of its dump, and be found again by readers? Its parts between slashes are of
/// letters, digits, `_`, `.` and `-`, neither empty nor `.` nor `..`, not longer than 150 bytes, and do not look like a
/// graph's file; all in all it has at most 1000 bytes.
inline bool is_safe_node_name(std::string_view name) {
  bool safe = name.size() <= detail::max_name_length;
  detail::each_part(name, [&](std::string_view part) { safe = safe && detail::is_safe_part(part); });
  return safe;
}

/// The name if it is safe; else a safe one that looks like it and ends in 16 digits made of the name as it was. Give it
/// to the graph, the tensors and the metadata alike: readers look for the one in the other.
inline std::string safe_node_name(std::string_view name) {
  if (is_safe_node_name(name)) return std::string(name);
  std::string safe;
  detail::each_part(name.substr(0, detail::max_name_length - 200), [&](std::string_view part) {
    if (safe.size() < detail::max_name_length - 200) safe += (safe.empty() ? "" : "/") + detail::made_safe(part);
  });
  safe += '-';
  const std::uint64_t hash = graph_hash(name);
  for (int shift = 60; shift >= 0; shift -= 4) safe += "0123456789abcdef"[(hash >> shift) & 15U];
  return safe;
}

/// The folder of a device's tensors: `_tfdbg_device_`, then the name with `,` for `/` and `_` for `:`. Throws
/// LogicError for a name that is none: characters other than letters, digits and `_ . - : /`, or more than 200 of them.
/// Readers read an underscore in a device's type wrongly (`XLA_GPU`).
inline std::string device_folder(std::string_view device) {
  const bool legal = std::all_of(device.begin(), device.end(),
                                 [](char c) { return detail::is_legal_in_a_name(c) || c == ':' || c == '/'; });
  if (legal && !device.empty() && device.size() <= 200) {
    std::string folder = "_tfdbg_device_";
    for (const char c : device) folder += c == ':' ? '_' : c == '/' ? ',' : c;
    return folder;
  }
  throw LogicError(
      "crochet: a device's name in a dump has 1 to 200 letters, digits and _ . - : /, as in "
      "/job:localhost/replica:0/task:0/device:CPU:0");
}

}  // namespace crochet::debug

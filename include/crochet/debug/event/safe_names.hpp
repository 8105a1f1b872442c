// SPDX-License-Identifier: Apache-2.0
// Safe path names: a node or device name cannot lead outside a dump.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/base/hex.hpp>
#include <crochet/debug/event/graph_hash.hpp>

namespace crochet::debug {

namespace detail {

/// Maximum bytes of one path component. A file name also has slot, operation and time; the system's limit is 255.
inline constexpr std::size_t max_part_length = 150;
inline constexpr std::size_t max_name_length = 1000;
inline constexpr std::ptrdiff_t max_parts = 60;  // readers go down 64 folders
inline constexpr std::string_view graph_file_prefix = "_tfdbg_graph_";

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_legal_in_a_name(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-' || c == '>';
}
/// Whether readers take a node of this name for one that the debugger has inserted.
constexpr bool is_debugger_name(std::string_view name) {
  return name.starts_with("__copy_") || name.starts_with("__dbg_");
}

constexpr bool is_safe_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= max_part_length &&
         !part.starts_with(graph_file_prefix) && std::all_of(part.begin(), part.end(), is_legal_in_a_name);
}

/// The component with illegal characters replaced.
inline std::string made_safe(std::string_view part) {
  std::string safe;
  for (const char c : part.substr(0, max_part_length - 30)) safe += is_legal_in_a_name(c) ? c : '_';
  if (!is_safe_part(safe)) safe.insert(0, "node_");  // checks the result: `_` can turn it into the name of a graph file
  return safe;
}

/// Calls `visit` for each part between slashes, including empty ones.
template <class Visit>
constexpr void each_part(std::string_view name, Visit&& visit) {
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
    visit(name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
  visit(name);
}

}  // namespace detail

/// Whether the node's name can be the path of its dump that readers find. Requirements: parts between slashes consist
/// of letters, digits, `_`, `.`, `-` and `>`, are not empty, `.` or `..`, have at most 150 bytes and do not begin like
/// a graph's file; the whole name has at most 1000 bytes and 60 parts, and does not begin like a node of the debugger.
inline bool is_safe_node_name(std::string_view name) {
  bool safe = name.size() <= detail::max_name_length && !detail::is_debugger_name(name) &&
              std::count(name.begin(), name.end(), '/') < detail::max_parts;
  detail::each_part(name, [&](std::string_view part) { safe = safe && detail::is_safe_part(part); });
  return safe;
}

/// Returns a safe name unchanged; otherwise a similar safe name with a suffix of 16 hexadecimal digits, the hash of the
/// original name. Use it for the graph, the tensors and the metadata alike, because readers match the names.
inline std::string safe_node_name(std::string_view name) {
  if (is_safe_node_name(name)) return std::string(name);
  std::string safe;
  std::ptrdiff_t parts = 0;
  detail::each_part(name.substr(0, detail::max_name_length - 200), [&](std::string_view part) {
    if (safe.size() < detail::max_name_length - 200 && parts++ < detail::max_parts)
      safe += (safe.empty() ? "" : "/") + detail::made_safe(part);
  });
  if (detail::is_debugger_name(safe)) safe.insert(0, "node_");  // checks the result, as made_safe()
  return safe + '-' + crochet::detail::hex(graph_hash(name));
}

/// The folder of a device's tensors: `_tfdbg_device_`, then the name with `,` for `/` and `_` for `:`. Throws
/// LogicError for a name with characters other than letters, digits and `_ . - > : /`, an empty one, or one of more
/// than 200 characters. Readers misread an underscore in a device type (`XLA_GPU`).
inline std::string device_folder(std::string_view device) {
  const bool legal = std::all_of(device.begin(), device.end(),
                                 [](char c) { return detail::is_legal_in_a_name(c) || c == ':' || c == '/'; });
  if (legal && !device.empty() && device.size() <= 200) {
    std::string folder = "_tfdbg_device_";
    for (const char c : device) folder += c == ':' ? '_' : c == '/' ? ',' : c;
    return folder;
  }
  throw LogicError(
      "crochet: a device's name in a dump has 1 to 200 letters, digits and _ . - > : /, as in "
      "/job:localhost/replica:0/task:0/device:CPU:0");
}

}  // namespace crochet::debug

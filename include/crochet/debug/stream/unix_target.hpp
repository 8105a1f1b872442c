// SPDX-License-Identifier: Apache-2.0
// The path of a Unix socket, as gRPC is told of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace crochet::debug::detail {

/// Bytes in the path of a Unix socket, at most: the system's `sun_path` without its end.
inline constexpr std::size_t max_unix_path_length = 107;

/// Why nobody could connect to a socket of this path; empty if all is well with it.
inline std::string unix_path_fault(std::string_view path) {
  if (path.empty()) return "a Unix socket is written unix:/its/path";
  if (path.starts_with("//") && !path.starts_with("///")) return "a Unix socket has no host: write unix:/its/path";
  if (std::any_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return "the path of its socket has control characters";
  }
  if (path.size() > max_unix_path_length + (path.starts_with("///") ? 2 : 0)) {
    return "the path of a Unix socket has at most " + std::to_string(max_unix_path_length) + " bytes";
  }
  return {};
}

/// `unix:` and the path, in which everything else than letters, digits and `-._~/` is written %XX: gRPC reads a target
/// as a URI, and would take `?` and `#` for its end and `%41` for `A`.
inline std::string unix_target(std::string_view path) {
  constexpr std::string_view plain = "-._~/", digits = "0123456789ABCDEF";
  std::string target = "unix:";
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos) {
      target += c;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    target += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return target;
}

}  // namespace crochet::debug::detail

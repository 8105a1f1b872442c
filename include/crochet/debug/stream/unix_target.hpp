// SPDX-License-Identifier: Apache-2.0
// The gRPC target for the path of a Unix socket.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace crochet::debug {

/// The maximum length of a Unix socket's path in bytes: the system's `sun_path` without its terminator.
inline constexpr std::size_t max_unix_path_length = 107;

/// The reason why a socket path is invalid; empty if it is valid.
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

/// `unix:` and the path. Everything but letters, digits and `-._~/` is written as %XX: gRPC parses a target as a URI,
/// in which `?` and `#` end the path and `%41` means `A`.
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

}  // namespace crochet::debug

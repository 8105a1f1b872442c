// SPDX-License-Identifier: Apache-2.0
// Hexadecimal digits, in lower case.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace crochet::detail {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

/// Appends the two digits of a byte.
inline void append_hex(std::string& to, unsigned char byte) {
  to += hex_digits[byte >> 4];
  to += hex_digits[byte & 15U];
}

/// All digits of a number, zeros in front included: two for each byte of its type.
template <std::unsigned_integral T>
std::string hex(T value) {
  std::string digits;
  for (int byte = static_cast<int>(sizeof value) - 1; byte >= 0; --byte) {
    append_hex(digits, static_cast<unsigned char>((value >> (8 * byte)) & 0xFFU));
  }
  return digits;
}

}  // namespace crochet::detail

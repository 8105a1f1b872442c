// SPDX-License-Identifier: Apache-2.0
// short_number: a decimal number of a few characters, without a branch for each of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <crochet/base/config.hpp>

namespace crochet::detail {

/// 8 characters, the first the lowest byte.
inline std::uint64_t load_8(const char* from) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, from, 8);
  return std::endian::native == std::endian::little ? bytes : __builtin_bswap64(bytes);
}

/// The highest bit of each byte that is no digit. `bytes`: 8 characters, each xor '0', so that a digit is 0 to 9.
constexpr std::uint64_t no_digits(std::uint64_t bytes) {
  return (((bytes & 0x7f7f7f7f7f7f7f7fU) + 0x7676767676767676U) | bytes) & 0x8080808080808080U;
}

/// The number of 8 digits, each a byte of 0 to 9, the first the lowest byte. (Lemire, "Number Parsing at a Gigabyte per
/// Second", 2021, section 6.)
constexpr std::uint64_t of_8_digits(std::uint64_t bytes) {
  bytes = bytes * 10 + (bytes >> 8);
  return ((bytes & 0xff000000ffU) * 0xf424000000064U + ((bytes >> 16) & 0xff000000ffU) * 0x271000000001U) >> 32;
}

/// Reads `-12.5` or `7`, a number of at most 7 characters, from 8 bytes, and returns how many it has. The caller checks
/// the character behind it, which is no digit. 0, without a change of `value`, for all else.
CROCHET_ALWAYS_INLINE std::size_t short_number(const char* from, double& value) {
  constexpr double power_of_ten[][8] = {{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7},
                                        {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};
  std::uint64_t text = load_8(from) ^ 0x3030303030303030U;
  const std::uint64_t negative = *from == '-' ? 1 : 0;
  const std::uint64_t others = no_digits(text) >> (8 * negative);
  text >>= 8 * negative;
  if (others == 0) return 0;
  const int whole = std::countr_zero(others) & ~7;  // bits of the digits in front of the point
  const bool point = ((text >> whole) & 0xff) == ('.' ^ '0');
  const std::uint64_t behind = point ? others & (others - 1) : others;
  const int end = std::countr_zero(behind) & ~7, digits = point ? end - 8 : end;
  if (behind == 0 || whole == 0 || (point && digits == whole)) return 0;
  const std::uint64_t in_front = (std::uint64_t{1} << whole) - 1;
  const std::uint64_t joined = point ? (text & in_front) | ((text >> 8) & ~in_front) : text;
  const std::uint64_t number = of_8_digits(joined << (64 - digits));  // zeros in front
  value = static_cast<double>(number) / power_of_ten[negative][(digits - whole) / 8];
  return static_cast<std::size_t>(end / 8) + negative;
}

}  // namespace crochet::detail

// SPDX-License-Identifier: Apache-2.0
// plain_number: a decimal number of up to 15 digits, without an exponent.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <crochet/data/short_number.hpp>

namespace crochet::detail {

inline constexpr std::ptrdiff_t most_plain_digits = 15;

/// Reads up to 7 digits without a branch for each, and returns their number; 8, without a change, where there are more
/// or the text ends. (Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 6.)
inline int few_digits(const char* next, const char* end, std::uint64_t& digits) {
  constexpr std::uint64_t power_of_ten[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
  if (end - next < 8) return 8;
  std::uint64_t bytes = load_8(next) ^ 0x3030303030303030U;  // a digit is 0 to 9
  const std::uint64_t others = no_digits(bytes);
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (count == 0 || count == 8) return count;
  bytes <<= 64 - 8 * count;  // zeros in front
  digits = digits * power_of_ten[count] + of_8_digits(bytes);
  return count;
}

/// The end of the digits, of which it reads one more than a plain number has at most.
inline const char* more_digits(const char* next, const char* end, std::uint64_t& digits) {
  if (const int count = few_digits(next, end, digits); count < 8) return next + count;
  const char* const stop = end - next > most_plain_digits + 1 ? next + most_plain_digits + 1 : end;
  for (; next != stop; ++next) {
    const auto digit = static_cast<unsigned>(*next) - unsigned{'0'};
    if (digit > 9) break;
    digits = 10 * digits + digit;
  }
  return next;
}

/// Reads `-12.5` and returns its end: at most 15 digits, so that digits and power of ten are exact and their quotient
/// is rounded once, as std::from_chars does. Null, without a change of `value`, for everything else. The caller checks
/// the character at the end.
inline const char* plain_number(const char* from, const char* end, double& value) {
  constexpr double power_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = from != end && *from == '-';
  const char* const first = from + (negative ? 1 : 0);
  std::uint64_t digits = 0;  // wraps for too many, which are refused
  const char* next = more_digits(first, end, digits);
  std::ptrdiff_t count = next - first, fraction = 0;
  if (count == 0) return nullptr;
  if (next != end && *next == '.') {
    const char* const point = next++;
    next = more_digits(next, end, digits);
    fraction = next - point - 1;
    if (fraction == 0) return nullptr;
    count += fraction;
  }
  if (count > most_plain_digits) return nullptr;
  const double size = static_cast<double>(digits) / power_of_ten[fraction];
  value = negative ? -size : size;
  return next;
}

}  // namespace crochet::detail

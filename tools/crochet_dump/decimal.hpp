// SPDX-License-Identifier: Apache-2.0
// The shortest decimal number that identifies an element, as numpy prints it.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <crochet/debug/ops/small_float.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet_dump {

/// A finite number d.ddd x 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits{};  // without trailing zeros
  int exponent = 0;
};

/// The text before and after the decimal point, and the exponent's sign and digits if there is one.
struct DecimalText {
  std::string whole{}, fraction{}, exponent{};
};

namespace detail {

inline void drop_zeros(std::string& digits, std::size_t least) {
  while (digits.size() > least && digits.back() == '0') digits.pop_back();
}

/// Reads `-d.ddde-XX`.
inline Decimal parse_scientific(std::string_view text) {
  Decimal decimal;
  decimal.negative = text.starts_with('-');
  if (decimal.negative) text.remove_prefix(1);
  const std::size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  drop_zeros(decimal.digits, 1);
  const std::string_view exponent = text.substr(e + 1);
  std::from_chars(exponent.data() + (exponent.starts_with('+') ? 1 : 0), exponent.data() + exponent.size(),
                  decimal.exponent);
  return decimal;
}

template <class T>
std::string scientific(T value, int precision = -1) {
  std::array<char, 800> buffer{};
  char* const end = buffer.data() + buffer.size();
  const auto result = precision < 0
                          ? std::to_chars(buffer.data(), end, value, std::chars_format::scientific)
                          : std::to_chars(buffer.data(), end, value, std::chars_format::scientific, precision);
  return {buffer.data(), result.ptr};
}

/// Whether a decimal rounds to this positive small float: it lies within half the distance to the neighbours.
inline bool rounds_to(double decimal, float value, crochet::debug::SmallFloat type) {
  const int shift = type.mantissa_bits;
  const int smallest = 1 - type.bias - shift;                       // the power of two of the smallest last place
  const int place = std::max(std::ilogb(value) - shift, smallest);  // the power of two of this number's last place
  const bool at_power = std::ldexp(1.f, std::ilogb(value)) == value && place > smallest;
  const double up = std::ldexp(0.5, place), down = at_power ? std::ldexp(0.25, place) : up;
  const bool even = std::fmod(std::ldexp(value, -place), 2.f) == 0;  // ties round to even
  return even ? decimal <= value + up && decimal >= value - down : decimal < value + up && decimal > value - down;
}

inline Decimal shortest_small(float value, crochet::debug::SmallFloat type) {
  if (value == 0) return parse_scientific(scientific(value));
  for (int precision = 0; precision < 9; ++precision) {
    // The nearest decimal of this precision may round to another float while its neighbour rounds to this one: below a
    // power of two floats are closer together than above it.
    const std::string nearest = scientific(static_cast<double>(value), precision);
    const double size = std::abs(std::strtod(nearest.c_str(), nullptr));
    const double unit = std::pow(10.0, parse_scientific(nearest).exponent - precision);
    for (const double step : {0.0, unit, -unit}) {
      if (!rounds_to(size + step, std::abs(value), type)) continue;
      return parse_scientific(scientific(std::copysign(size + step, static_cast<double>(value)), precision));
    }
  }
  return parse_scientific(scientific(value));
}

}  // namespace detail

/// The shortest decimal that is nearest to this number of the type.
inline Decimal shortest(double value, crochet::io::DataType type) {
  const crochet::debug::SmallFloat small = crochet::debug::small_float(type);
  if (small.exponent_bits != 0) return detail::shortest_small(static_cast<float>(value), small);
  if (type == crochet::io::DataType::float64 || type == crochet::io::DataType::complex128) {
    return detail::parse_scientific(detail::scientific(value));
  }
  return detail::parse_scientific(detail::scientific(static_cast<float>(value)));
}

/// Without an exponent, with at most `precision` digits after the point; negative: all digits. Like numpy, all digits
/// before the point in an array (float16: [24736.]), and the shortest form for a single number (24740.0).
inline DecimalText positional(double value, const Decimal& decimal, int precision) {
  const auto digits = static_cast<int>(decimal.digits.size());
  const int behind = std::max(0, digits - 1 - decimal.exponent);
  const bool has_zeros = decimal.exponent >= digits;  // before the point, where the exact value has other digits
  DecimalText text{decimal.negative ? "-" : "", "", ""};
  if (precision >= 0 && (behind > precision || has_zeros)) {
    std::array<char, 800> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                      std::chars_format::fixed, precision);
    const std::string_view all{buffer.data(), result.ptr};
    const std::size_t point = all.find('.');
    text.whole += all.substr(0, point);
    if (point != all.npos) text.fraction = all.substr(point + 1);
    detail::drop_zeros(text.fraction, 0);
    return text;
  }
  if (decimal.exponent < 0) {
    text.whole += '0';
    text.fraction = std::string(static_cast<std::size_t>(-decimal.exponent - 1), '0') + decimal.digits;
  } else {
    std::string all = decimal.digits;
    const auto whole = static_cast<std::size_t>(decimal.exponent) + 1;
    if (all.size() < whole) all.resize(whole, '0');
    text.whole += all.substr(0, whole);
    text.fraction = all.substr(whole);
  }
  detail::drop_zeros(text.fraction, 0);
  return text;
}

/// With an exponent of at least two digits, and at most `precision` digits after the point; negative: all digits.
inline DecimalText exponential(double value, const Decimal& decimal, int precision) {
  Decimal rounded = decimal;
  if (precision >= 0 && decimal.digits.size() > static_cast<std::size_t>(precision) + 1) {
    rounded = detail::parse_scientific(detail::scientific(value, precision));
  }
  std::string exponent = std::to_string(std::abs(rounded.exponent));
  if (exponent.size() < 2) exponent.insert(0, 1, '0');
  return {(rounded.negative ? "-" : "") + rounded.digits.substr(0, 1), rounded.digits.substr(1),
          (rounded.exponent < 0 ? "-" : "+") + exponent};
}

/// With an exponent and exactly `precision` digits after the point; `plus`: with a plus sign.
inline DecimalText exponential_exactly(double value, int precision, bool plus) {
  const std::string text = detail::scientific(value, precision);
  const std::size_t e = text.find('e'), point = std::min(text.find('.'), e);
  return {(plus && value >= 0 && !std::signbit(value) ? "+" : "") + text.substr(0, point),
          point == e ? "" : text.substr(point + 1, e - point - 1), text.substr(e + 1)};
}

}  // namespace crochet_dump

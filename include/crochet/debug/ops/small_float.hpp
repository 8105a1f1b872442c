// SPDX-License-Identifier: Apache-2.0
// Floating types of one or two bytes, which C++20 lacks.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// The meaning of the highest exponent of a small floating type.
enum class SmallFloatKind : std::uint8_t {
  ieee,  ///< infinities and NaN
  fn,    ///< finite numbers; all ones is NaN
  fnuz   ///< finite numbers; the bits of negative zero are the only NaN
};

/// The bit layout of a floating type of one or two bytes.
struct SmallFloat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  SmallFloatKind kind = SmallFloatKind::ieee;
};

/// The layout of float16, bfloat16 and the float8 types; exponent_bits is 0 for all others.
constexpr SmallFloat small_float(io::DataType type) {
  using enum io::DataType;
  switch (type) {
    case float16:
      return {5, 10, 15, SmallFloatKind::ieee};
    case bfloat16:
      return {8, 7, 127, SmallFloatKind::ieee};
    case float8_e5m2:
      return {5, 2, 15, SmallFloatKind::ieee};
    case float8_e4m3fn:
      return {4, 3, 7, SmallFloatKind::fn};
    case float8_e4m3fnuz:
      return {4, 3, 8, SmallFloatKind::fnuz};
    case float8_e4m3b11fnuz:
      return {4, 3, 11, SmallFloatKind::fnuz};
    case float8_e5m2fnuz:
      return {5, 2, 16, SmallFloatKind::fnuz};
    default:
      return {};
  }
}

/// The exact value of the bits of a small float.
inline float decode(SmallFloat type, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1u << type.mantissa_bits) - 1);
  const std::uint32_t highest = (1u << type.exponent_bits) - 1;
  const std::uint32_t exponent = (bits >> type.mantissa_bits) & highest;
  const bool negative = ((bits >> (type.mantissa_bits + type.exponent_bits)) & 1) != 0;
  const bool last = exponent == highest;
  const bool nan = type.kind == SmallFloatKind::ieee ? last && mantissa != 0
                   : type.kind == SmallFloatKind::fn ? last && mantissa == (1u << type.mantissa_bits) - 1
                                                     : negative && exponent == 0 && mantissa == 0;
  if (nan) return std::numeric_limits<float>::quiet_NaN();
  float size = std::numeric_limits<float>::infinity();
  if (type.kind != SmallFloatKind::ieee || !last) {
    const std::uint32_t whole = exponent == 0 ? mantissa : mantissa | (1u << type.mantissa_bits);
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - type.bias - type.mantissa_bits;
    size = std::ldexp(static_cast<float>(whole), power);
  }
  return negative ? -size : size;
}

}  // namespace crochet::debug

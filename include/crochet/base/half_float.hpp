// SPDX-License-Identifier: Apache-2.0
// The floating types of two bytes, float16 and bfloat16, which C++20 lacks: exact conversion to float, and rounding of
// floats.
#pragma once

#include <bit>
#include <cstdint>

namespace crochet::detail {

/// The bits of a binary16 of IEEE 754: 11 significant bits, magnitudes up to 65504, subnormals down to 2^-24.
struct Float16 {
  std::uint16_t bits;
};
/// The upper half of a float: 8 significant bits, https://en.wikipedia.org/wiki/Bfloat16_floating-point_format.
struct BFloat16 {
  std::uint16_t bits;
};

/// The same number. Exact, subnormals and infinities included. A NaN keeps its sign and its bits.
constexpr float to_float(BFloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16U); }
/// The same.
constexpr float to_float(Float16 x) {
  const std::uint32_t magnitude = x.bits & 0x7FFFU, sign = (x.bits & 0x8000U) << 16U;
  constexpr std::uint32_t bias = (127U - 15U) << 23U, last = 0x7C00U;  // last: the exponent of infinity
  const std::uint32_t normal = (magnitude << 13U) + (magnitude < last ? bias : 2 * bias);
  // An integer times a power of two, since a flushed subnormal float would be lost.
  const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24F);
  return std::bit_cast<float>(sign | (magnitude < 0x0400U ? subnormal : normal));
}

/// The nearest bfloat16, ties to even. Finite numbers from 2^128 - 2^119 on become infinite. NaN stays NaN.
constexpr BFloat16 round_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16U & 1U);
  const bool nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;  // rounding could carry its bits away
  return {static_cast<std::uint16_t>((nan ? bits | 0x40'0000U : rounded) >> 16U)};
}
/// The nearest float16, ties to even. Finite numbers from 65520 on become infinite. NaN stays NaN.
constexpr Float16 round_to_float16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU, sign = bits >> 16U & 0x8000U;
  constexpr std::uint32_t bias = (127U - 15U) << 23U, infinite = 0x477F'F000U, normal = 0x3880'0000U;
  const std::uint32_t rounded = (magnitude - bias + 0xFFFU + (magnitude >> 13U & 1U)) >> 13U;
  // The last bit of 0.5 is 2^-24, that of a subnormal float16: the addition rounds.
  const auto small = std::bit_cast<float>(magnitude < normal ? magnitude : 0U);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t finite = magnitude < normal ? subnormal : rounded;
  const std::uint32_t nan = 0x7E00U | (magnitude >> 13U & 0x3FFU);
  const std::uint32_t other = magnitude > 0x7F80'0000U ? nan : 0x7C00U;
  return {static_cast<std::uint16_t>(sign | (magnitude < infinite ? finite : other))};
}

}  // namespace crochet::detail

// SPDX-License-Identifier: Apache-2.0
// Float16: numbers of two bytes by IEEE 754, for files. As bfloat16 (base/bfloat16.hpp) a class, since C++20 has
// neither.
#pragma once

#include <bit>
#include <cstdint>

namespace crochet::detail {

/// A binary16 of IEEE 754: 11 significant bits, magnitudes up to 65504, subnormals down to 2^-24.
class Float16 {
 public:
  Float16() = default;
  /// The nearest one, ties to even. Finite numbers from 65520 on become infinite. NaN stays NaN.
  constexpr explicit Float16(float x) : bits_(rounded(x)) {}
  /// The number with these bits.
  static constexpr Float16 of_bits(std::uint16_t bits) {
    Float16 x;
    x.bits_ = bits;
    return x;
  }

  /// The same number. Exact, subnormals and infinities included. A NaN keeps its sign and its bits.
  // NOLINTNEXTLINE(google-explicit-constructor): as bfloat16
  constexpr operator float() const {
    const std::uint32_t magnitude = bits_ & 0x7FFFU, sign = (bits_ & 0x8000U) << 16U;
    constexpr std::uint32_t bias = (127U - 15U) << 23U, last = 0x7C00U;  // last: the exponent of infinity
    const std::uint32_t normal = (magnitude << 13U) + (magnitude < last ? bias : 2 * bias);
    // An integer times a power of two, since a flushed subnormal float would be lost.
    const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24F);
    return std::bit_cast<float>(sign | (magnitude < 0x0400U ? subnormal : normal));
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t rounded(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = bits & 0x7FFF'FFFFU, sign = bits >> 16U & 0x8000U;
    constexpr std::uint32_t bias = (127U - 15U) << 23U, infinite = 0x477F'F000U, normal = 0x3880'0000U;
    const std::uint32_t nearest = (magnitude - bias + 0xFFFU + (magnitude >> 13U & 1U)) >> 13U;
    // The last bit of 0.5 is 2^-24, that of a subnormal float16: the addition rounds.
    const auto small = std::bit_cast<float>(magnitude < normal ? magnitude : 0U);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t finite = magnitude < normal ? subnormal : nearest;
    const std::uint32_t nan = 0x7E00U | (magnitude >> 13U & 0x3FFU);
    const std::uint32_t other = magnitude > 0x7F80'0000U ? nan : 0x7C00U;
    return static_cast<std::uint16_t>(sign | (magnitude < infinite ? finite : other));
  }

  std::uint16_t bits_;
};

}  // namespace crochet::detail

// SPDX-License-Identifier: Apache-2.0
// bfloat16: the element type of two bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace crochet {

/// A number of two bytes: the upper half of a float, with 8 significant bits and a float's range
/// (https://en.wikipedia.org/wiki/Bfloat16_floating-point_format). For storage: it converts to float, exactly, and
/// arithmetic on it is arithmetic of floats.
class bfloat16 {
 public:
  bfloat16() = default;
  /// The nearest one, ties to even. Finite numbers from 2^128 - 2^119 on become infinite. NaN stays NaN. A double is
  /// rounded to float first.
  template <class N>
  requires std::is_arithmetic_v<N>
  constexpr explicit bfloat16(N x) : bits_(rounded(static_cast<float>(x))) {}
  /// The number with these bits.
  static constexpr bfloat16 of_bits(std::uint16_t bits) {
    bfloat16 x;
    x.bits_ = bits;
    return x;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): exact, as from float to double
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16U); }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t rounded(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t nearest = bits + 0x7FFFU + (bits >> 16U & 1U);
    const bool nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;  // rounding could carry its bits away
    return static_cast<std::uint16_t>((nan ? bits | 0x40'0000U : nearest) >> 16U);
  }

  std::uint16_t bits_;
};

/// A floating-point number that a tensor can have as an element.
template <class T>
concept FloatingElement = std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>;

/// A number, or a truth value, that a tensor can have as an element.
template <class T>
concept NumberElement = std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16>;

}  // namespace crochet

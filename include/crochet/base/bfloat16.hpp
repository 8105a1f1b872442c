// SPDX-License-Identifier: Apache-2.0
// bfloat16: the element type of two bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include <crochet/base/half_float.hpp>

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
  constexpr explicit bfloat16(N x) : half_(detail::round_to_bfloat16(static_cast<float>(x))) {}
  /// The number with these bits.
  static constexpr bfloat16 of_bits(std::uint16_t bits) {
    bfloat16 x;
    x.half_ = {bits};
    return x;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): exact, as from float to double
  constexpr operator float() const { return detail::to_float(half_); }
  constexpr std::uint16_t bits() const { return half_.bits; }

 private:
  detail::BFloat16 half_;
};

/// A floating-point number that a tensor can have as an element.
template <class T>
concept FloatingElement = std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>;

/// A number, or a truth value, that a tensor can have as an element.
template <class T>
concept NumberElement = std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16>;

}  // namespace crochet

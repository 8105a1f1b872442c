// SPDX-License-Identifier: Apache-2.0
// Rounding to integers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet::simd::CROCHET_ISA {

/// Rounding modes; the values are the immediates of the machine instruction.
enum class Rounding { nearest_even = 8, down = 9, up = 10, to_zero = 11 };

namespace detail {
template <Rounding R, class E>
CROCHET_ALWAYS_INLINE E round_one(E x) {
  if constexpr (R == Rounding::down) return std::floor(x);
  if constexpr (R == Rounding::up) return std::ceil(x);
  if constexpr (R == Rounding::to_zero) return std::trunc(x);
  if constexpr (R == Rounding::nearest_even) return std::nearbyint(x);
}
template <Rounding R>
struct Round {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    N y{};
#if defined(__AVX512F__)
    if constexpr (sizeof(element_of<N>) == 4) {
      asm("vrndscaleps %2, %1, %0" : "=v"(y) : "v"(x), "i"(R));
    } else {
      asm("vrndscalepd %2, %1, %0" : "=v"(y) : "v"(x), "i"(R));
    }
#elif defined(__AVX__)
    if constexpr (sizeof(element_of<N>) == 4) {
      asm("vroundps %2, %1, %0" : "=x"(y) : "x"(x), "i"(R));
    } else {
      asm("vroundpd %2, %1, %0" : "=x"(y) : "x"(x), "i"(R));
    }
#else
    for (int i = 0; i < lanes_of<N>; ++i) y[i] = round_one<R>(x[i]);
#endif
    return y;
  }
};
}  // namespace detail

/// Rounds x to an integer. Integers are unchanged.
template <Rounding R, class V>
CROCHET_ALWAYS_INLINE V round(const V& x) {
  if constexpr (is_scalar<V>) {
    if constexpr (std::is_integral_v<V>) return x;
    if constexpr (!std::is_integral_v<V>) return detail::round_one<R>(x);
  } else if constexpr (std::is_integral_v<element_of<V>>) {
    return x;
  } else {
    return map<detail::Round<R>>(x);
  }
}

}  // namespace crochet::simd::CROCHET_ISA

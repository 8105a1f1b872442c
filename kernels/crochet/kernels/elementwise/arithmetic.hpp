// SPDX-License-Identifier: Apache-2.0
// Arithmetic per element.
#pragma once
#include <limits>
#include <type_traits>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/arithmetic.hpp>
#include <crochet/kernels/elementwise/functor.hpp>
#include <crochet/kernels/simd_round.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {
struct Sign {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a) {
    const N zero{}, one = static_cast<N>(zero + 1);
    return (a > zero) ? one : ((a < zero) ? static_cast<N>(zero - one) : a);
  }
};
struct Abs {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a) {
    return static_cast<N>((a < N{}) ? static_cast<N>(-a) : static_cast<N>(a + N{}));  // -0 + 0 is 0
  }
};
// Integer division is defined for all operands, as in XLA, so no element traps: a / 0 is -1 (all bits set), a % 0 is
// a, min / -1 is min, and min % -1 is 0. Where b is a constant the compiler removes the tests.

/// The element type of a vector; for a scalar, its own type.
template <class N>
struct ElementOf {
  using type = N;
};
template <class N>
requires(!simd::is_scalar<N>) struct ElementOf<N> {
  using type = simd::element_of<N>;
};

/// b, or 1 where a / b would trap.
struct SafeDivisor {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a, const N& b) {
    using T = typename ElementOf<N>::type;
    const N zero{}, one = static_cast<N>(zero + 1);
    if constexpr (std::is_signed_v<T>) {
      const N minus_one = static_cast<N>(zero - 1), least = static_cast<N>(zero + std::numeric_limits<T>::min());
      return ((b == zero) | ((b == minus_one) & (a == least))) ? one : b;
    } else {
      return (b == zero) ? one : b;
    }
  }
};
/// The quotient; for integers rounded towards zero.
struct Quotient {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a, const N& b) {
    const N zero{}, all_bits = static_cast<N>(zero - 1), q = static_cast<N>(a / SafeDivisor::apply(a, b));
    return (b == zero) ? all_bits : q;
  }
};
/// The remainder with the sign of b.
template <class T>
CROCHET_ALWAYS_INLINE T floor_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T r = std::fmod(a, b);
    return r != 0 ? ((r < 0) != (b < 0) ? r + b : r) : std::copysign(T(0), b);
  } else {
    const auto r = static_cast<T>(b == 0 ? a : a % SafeDivisor::apply(a, b));
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  }
}
/// The greatest integer not above a / b. Floating types: from the remainder, which is exact, as in numpy.
template <class T>
CROCHET_ALWAYS_INLINE T floor_quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T r = std::fmod(a, b), down = (r < 0) != (b < 0) ? T(1) : T(0);
    const T q = r == 0 ? a / b : (a - r) / b + T(0) - down, whole = std::floor(q);
    return q - whole > T(0.5) ? whole + 1 : whole;
  } else {
    const T divisor = SafeDivisor::apply(a, b);
    const auto r = static_cast<T>(a % divisor);
    const auto q = static_cast<T>(b == 0 ? T(0) - T(1) : a / divisor);
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? q - 1 : q);
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Elementwise<&op::add> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a + b);
  }
};
template <>
struct Elementwise<&op::sub> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a - b);
  }
};
template <>
struct Elementwise<&op::mul> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a * b);
  }
};
template <>
struct Elementwise<&op::div> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<V>(a / b);
    } else {
      return simd::map_any<kernel::detail::Quotient>(a, b);
    }
  }
};
template <>
struct Elementwise<&op::floor_divide> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::lane_by_lane([](T x, T y) { return kernel::detail::floor_quotient(x, y); }, a, b);
  }
};
template <>
struct Elementwise<&op::mod> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::lane_by_lane([](T x, T y) { return kernel::detail::floor_mod(x, y); }, a, b);
  }
};
template <>
struct Elementwise<&op::maximum> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::maximum(a, b);
  }
};
template <>
struct Elementwise<&op::minimum> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::minimum(a, b);
  }
};
template <>
struct Elementwise<&op::neg> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>(-a);
  }
};
template <>
struct Elementwise<&op::square> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>(a * a);
  }
};
template <>
struct Elementwise<&op::abs> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::map_any<kernel::detail::Abs>(a);
  }
};
template <>
struct Elementwise<&op::sign> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::map_any<kernel::detail::Sign>(a);
  }
};
template <>
struct Elementwise<&op::floor> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::round<simd::Rounding::down>(a);
  }
};
template <>
struct Elementwise<&op::ceil> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::round<simd::Rounding::up>(a);
  }
};
template <>
struct Elementwise<&op::round> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::round<simd::Rounding::nearest_even>(a);
  }
};
template <>
struct Elementwise<&op::trunc> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::round<simd::Rounding::to_zero>(a);
  }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Sine and cosine. Range reduction and coefficients from FreeBSD's msun: e_rem_pio2.c, k_sin.c, k_cos.c (Sun
// Microsystems, 1993). Floats are computed as doubles and rounded.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {

/// Range reduction: x = n pi/2 + r + tail with |r| <= pi/4, for |x| up to 2^20. pi/2 is split into three pieces whose
/// products with n are exact.
template <class N>
struct ByHalfPi {
  static constexpr double limit = 0x1p20;
  N r, tail;
  bits_t<N> n_bits;  ///< the lowest bits are n

  CROCHET_ALWAYS_INLINE explicit ByHalfPi(const N& x) {
    constexpr double to_integer = 0x1.8p52, two_over_pi = 0x1.45f306dc9c883p-1;
    constexpr double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
                     third = 2.02226624879595063154e-21;
    const N shifted = x * two_over_pi + to_integer, n = shifted - to_integer;
    const N rough = x - n * first, w = n * second, t = rough - w;
    const N rest = n * third - ((rough - t) - w);
    n_bits = bits(shifted);
    r = t - rest;
    tail = (t - r) - rest;
  }
};
template <class N>
CROCHET_ALWAYS_INLINE N sine(const N& r, const N& tail) {
  const N z = r * r, v = z * r;
  const N p = polynomial(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                         -1.98412698298579493134e-04, 8.33333333332248946124e-03);
  return r - ((z * (tail * 0.5 - v * p) - tail) + v * 1.66666666666666324348e-01);
}
template <class N>
CROCHET_ALWAYS_INLINE N cosine(const N& r, const N& tail) {
  const N z = r * r;
  const N p = polynomial(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                         2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02) *
              z;
  const N half = z * 0.5, w = 1. - half;
  return w + (((1. - w) - half) + (z * p - r * tail));
}
/// Sine for Quarter = 0, cosine for Quarter = 1: the cosine is the sine shifted by a quarter turn.
template <int Quarter>
struct Turn {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return Quarter == 0 ? std::sin(x) : std::cos(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    const ByHalfPi<N> y(x);
    const bits_t<N> quarter = y.n_bits + Quarter;
    const N value = (quarter & 1) != 0 ? cosine(y.r, y.tail) : sine(y.r, y.tail);
    N result = from_bits<N>(bits(value) ^ ((quarter & 2) << 62));
    for (int i = 0; i < static_cast<int>(sizeof(N) / sizeof(double)); ++i) {
      if (!(std::abs(x[i]) <= ByHalfPi<N>::limit)) result[i] = Quarter == 0 ? std::sin(x[i]) : std::cos(x[i]);
    }
    return result;
  }
};
template <int Quarter, class V>
CROCHET_ALWAYS_INLINE V turn(const V& x) {
  if constexpr (is_scalar<V>) {
    return static_cast<V>(map<Turn<Quarter>>(static_cast<double>(x)));
  } else if constexpr (sizeof(element_of<V>) == 8) {
    return map<Turn<Quarter>>(x);
  } else {
    return __builtin_convertvector(map<Turn<Quarter>>(__builtin_convertvector(x, vec<double, lanes_of<V>>)), V);
  }
}

}  // namespace detail

/// Sine and cosine of an angle in radians. Error: below 1 ulp. Beyond 2^20 by the standard library.
template <class V>
CROCHET_ALWAYS_INLINE V sin(const V& x) {
  return detail::turn<0>(x);
}
template <class V>
CROCHET_ALWAYS_INLINE V cos(const V& x) {
  return detail::turn<1>(x);
}

}  // namespace crochet::simd::CROCHET_ISA

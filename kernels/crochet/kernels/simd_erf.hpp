// SPDX-License-Identifier: Apache-2.0
// The error function and its complement. The coefficients are minimax fits of the relative error for these forms.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_exp.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {

/// erf(x) / x - 1 for z = x^2, |x| <= 1/2.
template <class N>
CROCHET_ALWAYS_INLINE N erf_near(const N& z) {
  if constexpr (sizeof(element_of<N>) == 4) {
    return polynomial(z, 4.7205532901e-3F, -2.6758732274e-2F, 1.1282854527e-1F, -3.7612611055e-1F, 1.2837916613e-1F);
  } else {
    return polynomial(z, 1.4631337542783865e-06, -1.4835987917398235e-05, 1.2052913529306675e-04, -8.54828825686112e-04,
                      5.223977252532224e-03, -2.6866170624381933e-02, 1.1283791670894724e-01, -3.7612638903183027e-01,
                      1.2837916709551256e-01);
  }
}

/// erfc(x) e^(x^2) for x >= 1/2, up to where erfc(x) underflows to 0: a polynomial in (x - k) / (x + k), after Shepherd
/// and Laframboise (Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, 1981).
template <class N>
CROCHET_ALWAYS_INLINE N scaled_erfc(const N& x) {
  if constexpr (sizeof(element_of<N>) == 4) {
    const N t = (x - 2.F) / (x + 2.F);
    return polynomial(t, 1.0326728807e-4F, 8.9515066065e-5F, -9.3847699463e-4F, -8.7253382662e-4F, 6.9875963964e-3F,
                      3.7381644361e-3F, -7.8977771103e-2F, 2.4165782332e-1F, -4.2718586326e-1F, 2.5539568067e-1F);
  } else {
    const N t = (x - 3.) / (x + 3.);
    return polynomial(t, 9.214487280781866e-10, -6.464496938118576e-09, -3.451712631557782e-09, 4.513820179210158e-08,
                      3.292070855929163e-08, -2.3405969842136367e-07, -2.9635542904312587e-07, 1.2524102522764233e-06,
                      2.1207867042549067e-06, -7.978117912712335e-06, -1.2860644257596216e-05, 6.405654520461275e-05,
                      4.525531393001953e-05, -5.970619448585813e-04, 7.07746438169831e-04, 4.2691363322520355e-03,
                      -2.439249931866413e-02, 7.166583719802047e-02, -1.5011593650077706e-01, 2.4560380171232973e-01,
                      -3.262335600430372e-01, 1.7900115118138996e-01);
  }
}

/// e^-(x^2), including the rounding error of the square: x is split into two parts whose products are exact.
template <class N>
CROCHET_ALWAYS_INLINE N exp_of_minus_square(const N& x) {
  using E = element_of<N>;
  constexpr auto low_half = (element_of<bits_t<N>>{1} << (sizeof(E) == 4 ? 12 : 27)) - 1;
  const N high = from_bits<N>(bits(x) & ~low_half), low = x - high, square = x * x;
  const N lost = (high * high - square) + (high * low) * E(2) + low * low;
  ByLn2<N> y(-lesser(N{} - lowest_exponent<E>, square));
  y.r = y.r - lost;
  return scale(expm1_ratio(y.r) * y.r + E(1), y);
}

/// erfc of |x| >= 1/2, given |x|.
template <class N>
CROCHET_ALWAYS_INLINE N erfc_far(const N& m) {
  using E = element_of<N>;
  const N x = lesser(N{} + E(sizeof(E) == 4 ? 10.2 : 27.5), m);
  return exp_of_minus_square(x) * scaled_erfc(x);
}

struct Erf {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::erf(x);
  }
  /// Float: one rational function of the square.
  template <class N>
  CROCHET_ALWAYS_INLINE static N of_floats(const N& x) {
    const N z = lesser(N{} + 15.4F, x * x);
    const N above = polynomial(z, 2.0461584857e-6F, 2.8488360967e-4F, 3.7734725165e-3F, 5.2772314736e-2F,
                               1.90612869e-1F, 1.1283791452F);
    const N below =
        polynomial(z, 3.8051171237e-5F, 1.1641150415e-3F, 1.4985065944e-2F, 1.1419106536e-1F, 5.022589789e-1F, 1.F);
    const N m = magnitude(x);
    const N y = lesser(N{} + 1.F, m * above / below);
    return with_sign(m > 3.92F ? N{} + 1.F : y, x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    if constexpr (sizeof(element_of<N>) == 4) {
      return of_floats(x);
    } else {
      const N m = magnitude(x);
      return m < 0.5 ? x + x * erf_near(x * x) : with_sign(1. - erfc_far(m), x);
    }
  }
};

struct Erfc {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::erfc(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    const N m = magnitude(x), far = erfc_far(m);
    const N near = E(1) - (x + x * erf_near(x * x));
    return m < E(0.5) ? near : (x < E(0) ? E(2) - far : far);
  }
};

}  // namespace detail

/// erf(x) = 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x. Error: float below 8 ulp, double below 3 ulp.
template <class V>
CROCHET_ALWAYS_INLINE V erf(const V& x) {
  return map<detail::Erf>(x);
}
/// erfc(x) = 1 - erf(x), exact for small results too. Error: float below 8 ulp, double below 5 ulp,
/// from 9 on below 20 ulp for normal results.
template <class V>
CROCHET_ALWAYS_INLINE V erfc(const V& x) {
  return map<detail::Erfc>(x);
}

}  // namespace crochet::simd::CROCHET_ISA

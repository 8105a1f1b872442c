// SPDX-License-Identifier: Apache-2.0
// e^x and functions derived from it, on registers of float or double. The coefficients of the polynomials are minimax
// fits of the relative error. Error bounds are in units of the last place (ulp) of the exact result, checked by
// tests/kernels/simd_test.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {

template <class E>
struct ExpConstants {  // for float
  static constexpr int mantissa = 23, bias = 127;
  /// Adding this constant rounds to an integer; the sum's lowest bits are that integer plus the exponent bias.
  static constexpr float to_integer = 0x1.8p23F + bias;
  static constexpr float log2_e = 0x1.715476p0F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  static constexpr float high = 89, low = -104;  ///< at and beyond these, e^x is infinity or 0
  static constexpr float tanh_is_1 = 9.02F;
};
template <>
struct ExpConstants<double> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double to_integer = 0x1.8p52 + bias;
  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double high = 710, low = -746;
  static constexpr double tanh_is_1 = 19.1;
};

/// Range reduction: x = n ln 2 + r with |r| <= ln 2 / 2, after Cody and Waite: ln 2 is split into two pieces, and n
/// times the first is exact. One piece suffices where an error of n times the rounding error of ln 2 is acceptable.
/// The lowest bits of `n_bits` are n plus the exponent bias. With Factor, a power of 2, Factor * x is reduced; r is
/// then still the remainder of x and has to be multiplied by Factor.
enum class Ln2 { in_two_pieces, in_one };
template <class N, Ln2 Pieces = Ln2::in_two_pieces, int Factor = 1>
struct ByLn2 {
  using E = element_of<N>;
  using K = ExpConstants<E>;
  N n, r;
  bits_t<N> n_bits;

  CROCHET_ALWAYS_INLINE explicit ByLn2(const N& x) {
    const N shifted = x * (K::log2_e * Factor) + K::to_integer;
    n = shifted - K::to_integer;
    n_bits = bits(shifted);
    if constexpr (Pieces == Ln2::in_one) {
      r = x - n * ((K::ln2_high + K::ln2_low) / Factor);
    } else {
      r = x - n * (K::ln2_high / Factor);
      r = r - n * (K::ln2_low / Factor);
    }
  }
};

/// 2^n p. Without the AVX-512 instruction the result is 0 for the least n, and the greatest power is applied in two
/// steps.
template <class N, Ln2 Pieces>
CROCHET_ALWAYS_INLINE N scale(const N& p, const ByLn2<N, Pieces>& x) {
#if defined(__AVX512F__)
  N y;
  if constexpr (sizeof(element_of<N>) == 4) {
    asm("vscalefps %2, %1, %0" : "=v"(y) : "v"(p), "v"(x.n));
  } else {
    asm("vscalefpd %2, %1, %0" : "=v"(y) : "v"(p), "v"(x.n));
  }
  return y;
#else
  using K = ExpConstants<element_of<N>>;
  return (p + p) * from_bits<N>((x.n_bits - 1) << K::mantissa);
#endif
}
/// 2^n for -bias < n <= bias.
template <class N, Ln2 Pieces, int Factor>
CROCHET_ALWAYS_INLINE N power_of_two(const ByLn2<N, Pieces, Factor>& x) {
  return from_bits<N>(x.n_bits << ExpConstants<element_of<N>>::mantissa);
}
#if defined(__AVX512F__)
template <class E>
inline constexpr E lowest_exponent = ExpConstants<E>::low;
#else
template <class E>
inline constexpr E lowest_exponent = (1 - ExpConstants<E>::bias) * E(0.6931471805599453);
#endif

#if defined(__AVX512DQ__)
/// a, with the magnitude of b if that is less or if a is NaN.
template <class N>
CROCHET_ALWAYS_INLINE N least_magnitude(const N& a, const N& b) {
  N y;
  if constexpr (sizeof(element_of<N>) == 4) {
    asm("vrangeps $2, %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
  } else {
    asm("vrangepd $2, %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
  }
  return y;
}
#endif

/// (e^r - 1) / r for |r| <= ln 2 / 2.
template <class N>
CROCHET_ALWAYS_INLINE N expm1_ratio(const N& r) {
  if constexpr (sizeof(element_of<N>) == 4) {
    return polynomial(r, 1.3870263938e-3F, 8.366256021e-3F, 4.1667439044e-2F, 1.6666546464e-1F, 4.999999702e-1F, 1.F);
  } else {
    return polynomial(r, 2.5044130169876207e-08, 2.7622143804515913e-07, 2.755742901091551e-06, 2.48015165277168e-05,
                      1.9841269706893978e-04, 1.3888888920391498e-03, 8.333333333388702e-03, 4.1666666666620215e-02,
                      1.6666666666666602e-01, 0.5, 1.0);
  }
}

/// e^x. At `low` and below the result is 0, at `high` and above infinity.
template <class N>
CROCHET_ALWAYS_INLINE N exp_between([[maybe_unused]] const N& low, const N& x, [[maybe_unused]] const N& high) {
  using E = element_of<N>;
#if defined(__AVX512DQ__)
  // The scaling handles infinities and NaN through n; r only has to be a number.
  ByLn2<N> y(x);
  y.r = least_magnitude(y.r, N{} + E(0.4));
#else
  const ByLn2<N> y(lesser(high, greater(low, x)));
#endif
  if constexpr (sizeof(E) == 4) {
    return scale(polynomial(y.r, 8.3132022992e-3F, 4.1890177876e-2F, 1.6667106748e-1F, 4.99992311e-1F, 1.F, 1.F), y);
  } else {
    return scale(expm1_ratio(y.r) * y.r + E(1), y);
  }
}
struct Exp {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::exp(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    return exp_between(N{} + lowest_exponent<E>, x, N{} + ExpConstants<E>::high);
  }
};

/// (e^x - 1) / 2 for x from -40 to the end of the exponent's range. Also accurate for small x: 2^n e^r - 1 is
/// 2^n (e^r - 1) + (2^n - 1), and the second term is exact.
template <class N>
CROCHET_ALWAYS_INLINE N half_of_expm1(const N& x) {
  using E = element_of<N>;
  using K = ExpConstants<E>;
  const ByLn2<N> y(x);
  const N half_power = from_bits<N>((y.n_bits - 1) << K::mantissa);
  return half_power * (expm1_ratio(y.r) * y.r) + (half_power - E(0.5));
}

/// tanh x for |x| <= ln 2 / 4.
template <class N>
CROCHET_ALWAYS_INLINE N small_tanh(const N& x) {
  const N square = x * x;
  if constexpr (sizeof(element_of<N>) == 4) {
    return x * polynomial(square, 1.309326748e-1F, -3.333063781e-1F, 9.999999550e-1F);
  } else {
    return x * polynomial(square, 3.44282010892080200e-3, -8.85711517130002282e-3, 2.18693635851999129e-2,
                          -5.39682526564242342e-2, 1.33333333326768850e-1, -3.33333333333321008e-1, 1.0);
  }
}

struct Expm1 {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::expm1(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    const N low = N{} + E(-40), high = N{} + ExpConstants<E>::high;
    const N half = half_of_expm1(lesser(high, greater(low, x)));
    return with_sign(magnitude(half + half), x);
  }
};

struct Tanh {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::tanh(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    const N one = N{} + ExpConstants<E>::tanh_is_1;
    // With |2x| = n ln 2 + r and t = tanh(r / 2), e^|2x| is 2^n (1 + t) / (1 - t).
    const N m = lesser(one, magnitude(x));
    const ByLn2<N, Ln2::in_one, 2> y(m);
    const N power = power_of_two(y), t = small_tanh(y.r);
    const N less = power - E(1), more = power + E(1);
    return with_sign((more * t + less) / (less * t + more), x);
  }
};

struct Sigmoid {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return E(1) / (E(1) + std::exp(-x));
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    return E(1) / (E(1) + exp_between(N{} - E(80), -x, N{} + ExpConstants<E>::high));
  }
};

}  // namespace detail

/// e^x. Error: float below 2.5 ulp, double below 1.5 ulp. Infinity from about 89 (double: 710). Results below 2^-125
/// (2^-1021) are correctly rounded subnormals on machines with a scale instruction (AVX-512), and 0 elsewhere.
template <class V>
CROCHET_ALWAYS_INLINE V exp(const V& x) {
  return map<detail::Exp>(x);
}
/// e^x - 1, accurate for small x. Error: below 3 ulp.
template <class V>
CROCHET_ALWAYS_INLINE V expm1(const V& x) {
  return map<detail::Expm1>(x);
}
/// Hyperbolic tangent: (e^2x - 1) / (e^2x + 1). Error: below 3.5 ulp.
template <class V>
CROCHET_ALWAYS_INLINE V tanh(const V& x) {
  return map<detail::Tanh>(x);
}
/// 1 / (1 + e^-x). Error: below 4 ulp; for floats below 7 ulp where x < -20, down to subnormal numbers.
template <class V>
CROCHET_ALWAYS_INLINE V sigmoid(const V& x) {
  return map<detail::Sigmoid>(x);
}

}  // namespace crochet::simd::CROCHET_ISA

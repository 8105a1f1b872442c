// SPDX-License-Identifier: Apache-2.0
// Logarithms. Method and coefficients from FreeBSD's msun, e_logf.c and e_log.c (Sun Microsystems, 1993).
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {

template <class E>
struct LogConstants {  // for float
  static constexpr int mantissa = 23;
  static constexpr std::int32_t sqrt_half = 0x3f3504f3;  ///< the bits of sqrt(1/2)
  static constexpr float to_normal = 0x1p25F, ln2_high = 6.9313812256e-01F, ln2_low = 9.0580006145e-06F;
};
template <>
struct LogConstants<double> {
  static constexpr int mantissa = 52;
  static constexpr std::int64_t sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double to_normal = 0x1p54, ln2_high = 6.93147180369123816490e-01,
                          ln2_low = 1.90821492927058770002e-10;
};

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive x.
template <class N>
struct ByPowerOfTwo {
  using E = element_of<N>;
  using K = LogConstants<E>;
  N k, f;

  CROCHET_ALWAYS_INLINE explicit ByPowerOfTwo(const N& x) {
    // A subnormal number has no implicit leading bit, so it is scaled to a normal one first.
    const auto tiny = x < std::numeric_limits<E>::min();
    using U = vec<std::make_unsigned_t<element_of<bits_t<N>>>, lanes_of<N>>;  // unsigned: wraps for x <= 0
    const auto raw = reinterpret_cast<U>(bits(tiny ? x * K::to_normal : x));
    const auto b = reinterpret_cast<bits_t<N>>(raw - static_cast<element_of<U>>(K::sqrt_half));
    const bits_t<N> exponent = b >> K::mantissa;
    f = from_bits<N>((b & ((element_of<bits_t<N>>{1} << K::mantissa) - 1)) + K::sqrt_half) - E(1);
    k = __builtin_convertvector(exponent, N);
    k = tiny ? k - E(K::mantissa + 2) : k;
  }
};

/// log(x) + add for positive finite x, where `add` is small compared to log(x).
template <class N>
CROCHET_ALWAYS_INLINE N log_of_positive(const N& x, const N& add) {
  using E = element_of<N>;
  using K = LogConstants<E>;
  const ByPowerOfTwo<N> y(x);
  const N s = y.f / (y.f + E(2)), z = s * s, half_square = y.f * y.f * E(0.5);
  N series;
  if constexpr (sizeof(E) == 4) {
    series = polynomial(z, 0.24279078841F, 0.28498786688F, 0.40000972152F, 0.66666662693F) * z;
  } else {
    series = polynomial(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                        2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                        6.666666666666735130e-01) *
             z;
  }
  const N tail = s * (half_square + series) + (y.k * K::ln2_low + add);
  return tail - half_square + y.f + y.k * K::ln2_high;
}
/// `y` for positive finite x, otherwise the logarithm's special value for x.
template <class N>
CROCHET_ALWAYS_INLINE N or_special(const N& y, const N& x) {
  using E = element_of<N>;
  constexpr E inf = std::numeric_limits<E>::infinity(), nan = std::numeric_limits<E>::quiet_NaN();
  const N of_zero = x < E(0) ? N{} + nan : N{} - inf;  // -inf for -0 too
  const N large = x < inf ? y : x;                     // infinity, NaN
  return x <= E(0) ? of_zero : large;
}

struct Log {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::log(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    return or_special(log_of_positive(x, N{}), x);
  }
};
struct Log1p {
  template <class E>
  CROCHET_ALWAYS_INLINE static E one(E x) {
    return std::log1p(x);
  }
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    using E = element_of<N>;
    const N u = x + E(1), lost = (x - (u - E(1))) / u;  // the rounding error of 1 + x, relative to u
    const N y = or_special(log_of_positive(u, lost), u);
    return magnitude(x) < std::numeric_limits<E>::epsilon() / 4 ? x : y;
  }
};

}  // namespace detail

/// Natural logarithm. Error: below 1.5 ulp. log(0) is -infinity, the logarithm of negative numbers NaN.
template <class V>
CROCHET_ALWAYS_INLINE V log(const V& x) {
  return map<detail::Log>(x);
}
/// log(1 + x), accurate for small x. Error: below 2.5 ulp.
template <class V>
CROCHET_ALWAYS_INLINE V log1p(const V& x) {
  return map<detail::Log1p>(x);
}

}  // namespace crochet::simd::CROCHET_ISA

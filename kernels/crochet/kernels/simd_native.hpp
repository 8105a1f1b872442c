// SPDX-License-Identifier: Apache-2.0
// Functions on machine registers. All vectors have the same number of elements, but machine registers the same number
// of bytes. Code that needs masks or special instructions is written for registers and applied to a vector piece by
// piece: g++ compiles comparisons of wider vectors to scalar code.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet::simd::CROCHET_ISA {

/// Bytes of a machine register.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// A machine register of elements T (float, double, or an integer).
template <class T>
using native =
    vec<T, static_cast<int>(lanes * sizeof(T)) < register_bytes ? lanes : register_bytes / static_cast<int>(sizeof(T))>;

namespace detail {
/// The number of machine registers of a vector.
template <class V>
inline constexpr int pieces = static_cast<int>(sizeof(V)) > register_bytes
                                  ? static_cast<int>(sizeof(V)) / register_bytes
                                  : 1;
template <class V, int Pieces>
using piece_t = vec<element_of<V>, lanes_of<V> / Pieces>;
template <int Pieces, class V>
CROCHET_ALWAYS_INLINE piece_t<V, Pieces> piece(const V& x, int i) {
  piece_t<V, Pieces> p[Pieces];
  __builtin_memcpy(p, &x, sizeof p);
  return p[i];
}
template <class N>
constexpr bool is_floating_register() {
  if constexpr (is_scalar<N>) {
    return false;
  } else {
    return sizeof(N) >= 16 && std::is_floating_point_v<element_of<N>>;
  }
}
/// Whether instructions can be selected by inline assembly: N is a register of floating elements.
template <class N>
inline constexpr bool by_name = is_floating_register<N>();
}  // namespace detail

/// Integers as wide as N's elements: the type of N's comparisons.
template <class N>
using bits_t = vec<typename detail::signed_integer<sizeof(element_of<N>)>::type, lanes_of<N>>;
template <class N>
CROCHET_ALWAYS_INLINE bits_t<N> bits(const N& x) {
  return reinterpret_cast<bits_t<N>>(x);
}
template <class N>
CROCHET_ALWAYS_INLINE N from_bits(const bits_t<N>& b) {
  return reinterpret_cast<N>(b);
}
template <class N>
inline constexpr auto sign_bit = std::numeric_limits<element_of<bits_t<N>>>::min();
template <class N>
CROCHET_ALWAYS_INLINE N magnitude(const N& x) {
  return from_bits<N>(bits(x) & ~sign_bit<N>);
}
/// `x`, which must not be negative, with the sign of `sign`.
template <class N>
CROCHET_ALWAYS_INLINE N with_sign(const N& x, const N& sign) {
  return from_bits<N>(bits(x) | (bits(sign) & sign_bit<N>));
}

/// Applies F to every register of the vectors x: F::apply(piece, ...) returns a piece of the result, whose elements are
/// To. Scalars are broadcast to a register, so tails are as exact as the rest. On a GPU there are scalars only, and
/// F::one computes them.
template <class F, class To, class First, class... V>
CROCHET_ALWAYS_INLINE auto by_registers(const First& first, const V&... x) {
  if constexpr (is_scalar<First>) {
#if defined(__CUDACC__)
    return static_cast<To>(F::one(first, x...));
#else
    return static_cast<To>(F::apply(first - native<First>{}, (x - native<V>{})...)[0]);
#endif
  } else if constexpr (constexpr int count = detail::pieces<First>; count == 1) {
    return F::apply(first, x...);
  } else {
    vec<To, lanes_of<First> / count> y[count];
    CROCHET_UNROLL
    for (int i = 0; i < count; ++i) y[i] = F::apply(detail::piece<count>(first, i), detail::piece<count>(x, i)...);
    vec<To, lanes_of<First>> all;
    static_assert(sizeof all == sizeof y);
    __builtin_memcpy(&all, y, sizeof all);
    return all;
  }
}
/// As above, for functions whose result has the type of x.
template <class F, class V, class... More>
CROCHET_ALWAYS_INLINE V map(const V& x, const More&... more) {
  if constexpr (is_scalar<V>) {
    return by_registers<F, V>(x, more...);
  } else {
    return by_registers<F, element_of<V>>(x, more...);
  }
}

/// As above, for functions that also have a scalar form.
template <class F, class V, class... More>
CROCHET_ALWAYS_INLINE V map_any(const V& x, const More&... more) {
  if constexpr (is_scalar<V>) {
    return F::apply(x, more...);
  } else {
    return map<F>(x, more...);
  }
}

/// a < b ? a : b; b if either is NaN. By inline assembly: g++ does not generate the instruction for this expression.
template <class N>
CROCHET_ALWAYS_INLINE N lesser(const N& a, const N& b) {
#if defined(__AVX__) && !defined(__clang__) && !defined(__CUDACC__)
  if constexpr (detail::by_name<N>) {
    N y{};
    if constexpr (sizeof(element_of<N>) == 4) {
      asm("vminps %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
    } else {
      asm("vminpd %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
    }
    return y;
  }
#endif
  return a < b ? a : b;
}
/// a > b ? a : b; b if either is NaN.
template <class N>
CROCHET_ALWAYS_INLINE N greater(const N& a, const N& b) {
#if defined(__AVX__) && !defined(__clang__) && !defined(__CUDACC__)
  if constexpr (detail::by_name<N>) {
    N y{};
    if constexpr (sizeof(element_of<N>) == 4) {
      asm("vmaxps %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
    } else {
      asm("vmaxpd %2, %1, %0" : "=v"(y) : "v"(a), "v"(b));
    }
    return y;
  }
#endif
  return a > b ? a : b;
}

namespace detail {
struct Maximum {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a, const N& b) {
    const N most = simd::greater(a, b);  // b if either is NaN
    return (a == a) ? most : a;
  }
};
struct Minimum {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a, const N& b) {
    const N least = simd::lesser(a, b);
    return (a == a) ? least : a;
  }
};
}  // namespace detail

/// The greater of two; NaN if either is NaN, so that a maximum does not hide the failure of a run.
template <class V>
CROCHET_ALWAYS_INLINE V maximum(const V& a, const V& b) {
  return map_any<detail::Maximum>(a, b);
}
template <class V>
CROCHET_ALWAYS_INLINE V minimum(const V& a, const V& b) {
  return map_any<detail::Minimum>(a, b);
}

namespace detail {
// By inline assembly: the intrinsics' header takes a third of a second to compile, and compilers vectorize std::sqrt
// only with -fno-math-errno.
struct SquareRoot {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& x) {
    N y{};
#if defined(__AVX__)
    if constexpr (by_name<N>) {
      if constexpr (sizeof(element_of<N>) == 4) {
        asm("vsqrtps %1, %0" : "=v"(y) : "v"(x));
      } else {
        asm("vsqrtpd %1, %0" : "=v"(y) : "v"(x));
      }
      return y;
    }
#elif defined(__SSE2__)
    if constexpr (by_name<N>) {
      if constexpr (sizeof(element_of<N>) == 4) {
        asm("sqrtps %1, %0" : "=x"(y) : "x"(x));
      } else {
        asm("sqrtpd %1, %0" : "=x"(y) : "x"(x));
      }
      return y;
    }
#elif defined(__aarch64__)
    if constexpr (by_name<N>) {
      if constexpr (sizeof(element_of<N>) == 4) {
        asm("fsqrt %0.4s, %1.4s" : "=w"(y) : "w"(x));
      } else {
        asm("fsqrt %0.2d, %1.2d" : "=w"(y) : "w"(x));
      }
      return y;
    }
#endif
    for (int i = 0; i < lanes_of<N>; ++i) y[i] = std::sqrt(x[i]);
    return y;
  }
};
}  // namespace detail

/// Applies a scalar function lane by lane, for functions without vector code.
template <class V, class F, class... More>
CROCHET_ALWAYS_INLINE V lane_by_lane(F f, const V& x, const More&... more) {
  if constexpr (is_scalar<V>) {
    return static_cast<V>(f(x, more...));
  } else {
    V y{};
    for (int i = 0; i < lanes_of<V>; ++i) y[i] = f(x[i], more[i]...);
    return y;
  }
}

template <class V>
CROCHET_ALWAYS_INLINE V sqrt(const V& x) {
  if constexpr (is_scalar<V>) {
    return std::sqrt(x);
  } else {
    return map<detail::SquareRoot>(x);
  }
}
/// c0 x^n + c1 x^(n-1) + ... + cn, by Horner's rule.
template <class N, class... C>
CROCHET_ALWAYS_INLINE N polynomial(const N& x, element_of<N> first, C... more) {
  N p = N{} + first;
  ((p = p * x + static_cast<element_of<N>>(more)), ...);
  return p;
}

// Comparison operators.
struct Less {
  template <class N>
  CROCHET_ALWAYS_INLINE static auto holds(const N& a, const N& b) {
    return a < b;
  }
};
struct LessEqual {
  template <class N>
  CROCHET_ALWAYS_INLINE static auto holds(const N& a, const N& b) {
    return a <= b;
  }
};
struct Equal {
  template <class N>
  CROCHET_ALWAYS_INLINE static auto holds(const N& a, const N& b) {
    return a == b;
  }
};
struct NotEqual {
  template <class N>
  CROCHET_ALWAYS_INLINE static auto holds(const N& a, const N& b) {
    return a != b;
  }
};

/// The elements where the relation holds: a byte for one element, a mask for vectors (kernels/registers.hpp).
template <class Relation, class V>
CROCHET_ALWAYS_INLINE auto compare(const V& a, const V& b) {
  return truth(Relation::holds(a, b));
}

}  // namespace crochet::simd::CROCHET_ISA

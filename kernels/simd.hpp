// SPDX-License-Identifier: Apache-2.0
// Vectors by the compilers' extensions: as many elements as the machine's vectors hold floats, whatever the element
// type; the compiler splits and joins where another type is wider or narrower. Functions here take a vector or a scalar
// alike.
#pragma once
#include <cmath>
#include <crochet/config.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Both compilers unroll a loop of constant bounds only when told to, each in its own words.
#if defined(__CUDACC__)
#define CROCHET_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define CROCHET_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CROCHET_UNROLL _Pragma("GCC unroll 32")
#endif
// clang contracts a * b + c only within one expression unless told; g++ does by default.
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif

// How vectors wider than the machine's are passed and returned depends on compiler flags. Every function here is
// inlined, so it does not matter, but g++ warns where such a function is instantiated: in the user's file. Parameters
// are references for the same reason (for them it has a remark that nothing switches off).
#pragma GCC diagnostic ignored "-Wpsabi"

namespace crochet::simd {

/// Elements a vector has unless it says otherwise, whatever their type.
#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

/// The type that holds T in registers: bool is a byte of 0 or 1.
template <class T>
using cell_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

namespace detail {
template <class T, int N>
struct vector {
  // NOLINTNEXTLINE(modernize-use-using): g++ and clang agree on the attribute only in this spelling
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <std::size_t Bytes>
struct signed_integer;
template <>
struct signed_integer<1> {
  using type = std::int8_t;
};
template <>
struct signed_integer<4> {
  using type = std::int32_t;
};
template <>
struct signed_integer<8> {
  using type = std::int64_t;
};
}  // namespace detail

template <class T, int N = lanes>
using vec = typename detail::vector<cell_t<T>, N>::type;

/// What an instruction on elements T works on: one vector, or one element.
template <class T, bool Wide>
struct reg {
  using type = cell_t<T>;
};
template <class T>
struct reg<T, true> {
  using type = vec<T>;
};
template <class T, bool Wide>
using reg_t = typename reg<T, Wide>::type;

template <class V>
inline constexpr bool is_scalar = std::is_arithmetic_v<V>;

/// A vector's elements: their type and number.
template <class V>
using element_of = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
template <class V>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(element_of<V>));

template <class T, bool Wide>
CROCHET_ALWAYS_INLINE reg_t<T, Wide> splat(cell_t<T> x) {
  if constexpr (Wide) {
    return x - vec<T>{};
  } else {
    return x;
  }
}
template <class T, bool Wide>
CROCHET_ALWAYS_INLINE reg_t<T, Wide> load(const T* p) {
  const T* aligned = static_cast<const T*>(__builtin_assume_aligned(p, alignof(T)));  // else nvcc copies byte by byte
  reg_t<T, Wide> v;
  __builtin_memcpy(&v, aligned, sizeof v);
  return v;
}
template <class T, class V>
CROCHET_ALWAYS_INLINE void store(T* p, const V& v) {
  T* aligned = static_cast<T*>(__builtin_assume_aligned(p, alignof(T)));
  __builtin_memcpy(aligned, &v, sizeof v);
}

/// Conversion element by element, as static_cast does; to bool, whether it is not 0.
template <class From, class To, bool Wide>
CROCHET_ALWAYS_INLINE reg_t<To, Wide> convert(const reg_t<From, Wide>& x) {
  if constexpr (std::is_same_v<cell_t<From>, cell_t<To>> && !std::is_same_v<To, bool>) {
    return x;
  } else if constexpr (!Wide) {
    return std::is_same_v<To, bool> ? static_cast<cell_t<To>>(x != cell_t<From>{}) : static_cast<cell_t<To>>(x);
  } else if constexpr (std::is_same_v<To, bool>) {
    return __builtin_convertvector(x != reg_t<From, true>{}, vec<To>) & 1;
  } else {
    return __builtin_convertvector(x, vec<To>);
  }
}

/// A comparison's outcome as bools.
template <class Mask>
CROCHET_ALWAYS_INLINE auto truth(const Mask& m) {
  if constexpr (std::is_same_v<Mask, bool>) {
    return static_cast<std::uint8_t>(m);
  } else {
    return __builtin_convertvector(m, vec<std::uint8_t, lanes_of<Mask>>) & 1;
  }
}
/// Where c holds a, elsewhere b.
template <class T, bool Wide>
CROCHET_ALWAYS_INLINE reg_t<T, Wide> select(const reg_t<bool, Wide>& c, const reg_t<T, Wide>& a,
                                            const reg_t<T, Wide>& b) {
  if constexpr (Wide) {
    using Mask = vec<typename detail::signed_integer<sizeof(cell_t<T>)>::type>;
    return __builtin_convertvector(c, Mask) != Mask{} ? a : b;
  } else {
    return c != 0 ? a : b;
  }
}

namespace detail {
/// A function of one element, lane by lane: for what has no vector code of its own.
template <class V, class F>
CROCHET_ALWAYS_INLINE V lane_by_lane(const V& x, F f) {
  if constexpr (is_scalar<V>) {
    return f(x);
  } else {
    V y;
    for (int i = 0; i < lanes_of<V>; ++i) y[i] = f(x[i]);
    return y;
  }
}
template <class V>
constexpr bool holds_floats() {
  if constexpr (is_scalar<V>) {
    return false;
  } else {
    return std::is_same_v<element_of<V>, float>;
  }
}
/// Whether V is a vector of floats.
template <class V>
inline constexpr bool is_float = holds_floats<V>();
}  // namespace detail

template <class V>
CROCHET_ALWAYS_INLINE V sqrt(const V& x) {
// The instruction itself: the intrinsics' header costs a third of a second to read, and the compilers vectorize the
// function only without errno.
#if defined(__AVX__)
  if constexpr (detail::is_float<V> && sizeof(V) >= 16) {
    V root;
    asm("vsqrtps %1, %0" : "=v"(root) : "v"(x));
    return root;
  }
#elif defined(__SSE2__)
  if constexpr (detail::is_float<V> && sizeof(V) >= 16) {
    V root;
    asm("sqrtps %1, %0" : "=x"(root) : "x"(x));
    return root;
  }
#endif
  return detail::lane_by_lane(x, [](auto e) { return std::sqrt(e); });
}

/// e^x. float: Cody-Waite reduction by ln 2 in two pieces and a polynomial of degree 6 (Cephes' expf); below 2 ulp.
/// Overflows to infinity and underflows to 0 at the ends of float's range. Other types: std::exp.
template <class V>
CROCHET_ALWAYS_INLINE V exp(const V& x) {
  if constexpr (!detail::is_float<V>) {
    return detail::lane_by_lane(x, [](auto e) { return std::exp(e); });
  } else {
    const V high = V{} + 88.7228317F, low = V{} - 87.3365447505F;
    const V y = x > high ? high : (x < low ? low : x);
    const V shifted = y * 1.44269504088896341F + 12582912.F, n = shifted - 12582912.F;
    const V r = (y - n * 0.693359375F) - n * -2.12194440e-4F;
    V p = r * 1.9875691500e-4F + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.F;
    using I = vec<std::int32_t, lanes_of<V>>;
    // 2^128 is no float: the last doubling is done apart.
    const I e = __builtin_convertvector(n, I), last = e > 127;
    V scaled = V(I(p) + ((e + last) << 23));
    scaled = last != 0 ? scaled + scaled : scaled;
    const V inf = V{} + std::numeric_limits<float>::infinity();
    const V bounded = x > high ? inf : (x < low ? V{} : scaled);
    return x != x ? x : bounded;
  }
}

/// Natural logarithm. float: mantissa in [sqrt(1/2), sqrt(2)) and a polynomial of degree 8 (Cephes' logf); below 2 ulp.
/// 0 gives -infinity, negative numbers NaN. Other types: std::log.
template <class V>
CROCHET_ALWAYS_INLINE V log(const V& x) {
  if constexpr (!detail::is_float<V>) {
    return detail::lane_by_lane(x, [](auto e) { return std::log(e); });
  } else {
    using I = vec<std::int32_t, lanes_of<V>>;
    // A subnormal number has no leading bit: it is made normal first.
    const I tiny = x < std::numeric_limits<float>::min();
    const I bits = I(tiny != 0 ? x * 0x1p23F : x);
    V m = V((bits & 0x007fffff) | 0x3f000000);
    V e = __builtin_convertvector((bits >> 23) - 126 + tiny * 23, V);
    const I small = m < 0.707106781186547524F;
    e = small != 0 ? e - 1.F : e;
    m = (small != 0 ? m + m : m) - 1.F;
    V p = m * 7.0376836292e-2F - 1.1514610310e-1F;
    p = p * m + 1.1676998740e-1F;
    p = p * m - 1.2420140846e-1F;
    p = p * m + 1.4249322787e-1F;
    p = p * m - 1.6668057665e-1F;
    p = p * m + 2.0000714765e-1F;
    p = p * m - 2.4999993993e-1F;
    p = p * m + 3.3333331174e-1F;
    const V square = m * m;
    V y = p * m * square + e * -2.12194440e-4F - 0.5F * square;
    y = m + y + e * 0.693359375F;
    const V inf = V{} + std::numeric_limits<float>::infinity(), nan = V{} + std::numeric_limits<float>::quiet_NaN();
    y = x == inf ? inf : y;
    y = x == V{} ? -inf : y;
    return x < V{} || x != x ? nan : y;
  }
}

/// Hyperbolic tangent. float: Cephes' odd polynomial up to 0.625, 1 - 2 / (e^2x + 1) beyond; below 3 ulp.
template <class V>
CROCHET_ALWAYS_INLINE V tanh(const V& x) {
  if constexpr (!detail::is_float<V>) {
    return detail::lane_by_lane(x, [](auto e) { return std::tanh(e); });
  } else {
    const V magnitude = x < V{} ? -x : x, square = x * x;
    V p = square * -5.70498872745e-3F + 2.06390887954e-2F;
    p = p * square - 5.37397155531e-2F;
    p = p * square + 1.33314422036e-1F;
    p = p * square - 3.33332819422e-1F;
    const V near = p * square * x + x;
    const V far = 1.F - 2.F / (simd::exp(magnitude + magnitude) + 1.F);
    return magnitude < 0.625F ? near : (x < V{} ? -far : far);
  }
}

/// The sum of a vector's elements, in a fixed order.
template <class V>
CROCHET_ALWAYS_INLINE auto sum(const V& x) {
  V v = x;
  for (int half = lanes_of<V> / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) v[i] += v[i + half];
  }
  return v[0];
}

}  // namespace crochet::simd

// SPDX-License-Identifier: Apache-2.0
// Vectors by the compilers' extensions. A vector has as many elements as the machine's vectors hold floats, for every
// element type; the compiler splits or joins types of other widths. The functions here take a vector or a scalar.
#pragma once
#include <cmath>
#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Both compilers unroll a loop of constant bounds only by a pragma, and each has its own.
#if defined(__CUDACC__)
#define CROCHET_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define CROCHET_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CROCHET_UNROLL _Pragma("GCC unroll 32")
#endif
// clang contracts a * b + c only within one expression by default; g++ contracts across expressions.
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif

// The ABI of vectors wider than the machine's depends on compiler flags. Every function here is inlined, so it does
// not matter, but g++ warns at the point of instantiation, in the user's file. Parameters are references for the same
// reason: g++ has a note for them that no flag disables.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace crochet::simd::CROCHET_ISA {

/// The default number of elements in a vector, for every element type.
#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

/// The type that represents T in registers: bool is a byte 0 or 1, bfloat16 its bits.
template <class T>
using cell_t = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t,
                                  std::conditional_t<std::is_same_v<T, bfloat16>, std::uint16_t, T>>;

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
struct signed_integer<2> {
  using type = std::int16_t;
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

/// The register type of elements T: one vector, or one element.
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

/// The element type of a vector, and the number of its elements.
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
  // without the hint nvcc copies byte by byte
  const T* aligned = static_cast<const T*>(__builtin_assume_aligned(p, alignof(T)));
  reg_t<T, Wide> v;
  __builtin_memcpy(&v, aligned, sizeof v);
  return v;
}
template <class T, class V>
CROCHET_ALWAYS_INLINE void store(T* p, const V& v) {
  T* aligned = static_cast<T*>(__builtin_assume_aligned(p, alignof(T)));
  __builtin_memcpy(static_cast<void*>(aligned), &v, sizeof v);
}

/// Converts element by element, as static_cast does; conversion to bool tests for not 0.
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

/// The result of a comparison: a byte for one element, a mask for vectors (kernels/registers.hpp). clang compares
/// vectors of bytes to a vector of char, which is unsigned on ARM; a mask has signed elements.
template <class Mask>
CROCHET_ALWAYS_INLINE auto truth(const Mask& m) {
  if constexpr (std::is_same_v<Mask, bool>) {
    return static_cast<std::uint8_t>(m);
  } else {
    return reinterpret_cast<vec<typename detail::signed_integer<sizeof(m[0])>::type, lanes_of<Mask>>>(m);
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

}  // namespace crochet::simd::CROCHET_ISA

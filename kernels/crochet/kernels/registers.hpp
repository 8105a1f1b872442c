// SPDX-License-Identifier: Apache-2.0
// The registers of a program: vectors of N elements, or single elements (N = 1). Truth values have two forms: bytes 0
// or 1, as in memory, and masks as wide as the compared elements, as comparisons produce them. Masks are converted
// only where bytes are needed, so a mask used by a selection costs nothing.
#pragma once
#include <bit>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {
template <class T, int N>
struct cells {
  using type = vec<T, N>;
};
template <class T>
struct cells<T, 1> {
  using type = cell_t<T>;
};
template <class T, int N>
using mask_like = vec<typename signed_integer<sizeof(cell_t<T>)>::type, N>;

/// Whether a register of truth values is a mask (signed integers, 0 or -1).
template <class V>
constexpr bool holds_mask() {
  if constexpr (is_scalar<V>) {
    return false;
  } else {
    return std::is_signed_v<element_of<V>> && std::is_integral_v<element_of<V>>;
  }
}
template <class V>
inline constexpr bool is_mask = holds_mask<V>();
}  // namespace detail

/// N elements of T: a vector, or the element itself.
template <class T, int N>
using cells_t = typename detail::cells<T, N>::type;

/// The number of elements in a register of a program whose widest element type has `widest` bytes. No register is wider
/// than the machine's vectors: compilers split comparisons and selections of wider ones badly.
constexpr int lanes_for(std::size_t widest) { return widest <= 4 ? lanes : lanes / 2; }

template <class T, int N>
CROCHET_ALWAYS_INLINE cells_t<T, N> fill(cell_t<T> x) {
  if constexpr (N == 1) {
    return x;
  } else {
    return x - vec<T, N>{};
  }
}
template <class T, int N>
CROCHET_ALWAYS_INLINE cells_t<T, N> read(const T* p) {
  const T* aligned = static_cast<const T*>(__builtin_assume_aligned(p, alignof(T)));
  cells_t<T, N> v;
  __builtin_memcpy(&v, aligned, sizeof v);
  return v;
}

/// Converts truth values to bytes 0 or 1.
template <int N, class C>
CROCHET_ALWAYS_INLINE cells_t<bool, N> as_bytes(const C& c) {
  if constexpr (N == 1) {
    return c;
  } else if constexpr (detail::is_mask<C>) {
    return __builtin_convertvector(c, vec<bool, N>) & 1;
  } else {
    return c;
  }
}
/// Converts truth values to a mask for elements of T.
template <class T, int N, class C>
CROCHET_ALWAYS_INLINE detail::mask_like<T, N> as_mask(const C& c) {
  using M = detail::mask_like<T, N>;
  if constexpr (std::is_same_v<C, M>) {
    return c;
  } else if constexpr (detail::is_mask<C>) {
    return __builtin_convertvector(c, M);
  } else {
    return __builtin_convertvector(c, M) != M{};
  }
}

/// a where c holds, else b.
template <class T, int N, class C>
CROCHET_ALWAYS_INLINE cells_t<T, N> choose(const C& c, const cells_t<T, N>& a, const cells_t<T, N>& b) {
  if constexpr (N == 1) {
    return c != 0 ? a : b;
  } else {
    return as_mask<T, N>(c) ? a : b;
  }
}

/// The float of each bfloat16.
template <int N, class V>
CROCHET_ALWAYS_INLINE cells_t<float, N> widen_bfloat16(const V& x) {
  if constexpr (N == 1) {
    return std::bit_cast<float>(std::uint32_t{x} << 16U);
  } else {
    return reinterpret_cast<vec<float, N>>(__builtin_convertvector(x, vec<std::uint32_t, N>) << 16U);
  }
}
/// The bits of each float rounded to bfloat16, to nearest, ties to even, in the upper half of an element. NaN stays
/// NaN.
template <int N>
CROCHET_ALWAYS_INLINE vec<std::uint32_t, N> upper_halves(const vec<float, N>& x) {
  const auto bits = reinterpret_cast<vec<std::uint32_t, N>>(x);
  const auto rounded = bits + 0x7FFFU + (bits >> 16U & 1U);
  return (x == x ? rounded : bits | 0x40'0000U) & 0xFFFF'0000U;
}
/// Each float rounded so.
template <int N, class V>
CROCHET_ALWAYS_INLINE cells_t<bfloat16, N> round_to_bfloat16(const V& x) {
  if constexpr (N == 1) {
    return bfloat16(x).bits();
  } else {
    return __builtin_convertvector(upper_halves<N>(x) >> 16U, vec<bfloat16, N>);
  }
}

/// Converts element by element, as static_cast does; conversion to bool tests for not 0. bfloat16 is converted from and
/// to float only.
template <class From, class To, int N, class V>
CROCHET_ALWAYS_INLINE auto cast(const V& x) {
  using Out = cells_t<To, N>;
  if constexpr (std::is_same_v<From, To>) {
    return x;
  } else if constexpr (std::is_same_v<From, bfloat16>) {
    return widen_bfloat16<N>(x);
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return round_to_bfloat16<N>(x);
  } else if constexpr (N == 1) {
    return std::is_same_v<To, bool> ? static_cast<Out>(x != V{}) : static_cast<Out>(x);
  } else if constexpr (std::is_same_v<To, bool>) {
    return truth(x != V{});
  } else if constexpr (detail::is_mask<V> && std::is_same_v<From, bool>) {
    return as_mask<To, N>(x) ? fill<To, N>(1) : Out{};
  } else {
    return __builtin_convertvector(x, Out);
  }
}

}  // namespace crochet::simd::CROCHET_ISA

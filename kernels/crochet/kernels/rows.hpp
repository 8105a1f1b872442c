// SPDX-License-Identifier: Apache-2.0
// Iteration over a row of memory by vectors, with a partial last vector; and reductions across the lanes of a vector.
#pragma once
#include <limits>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>
#include <crochet/kernels/used_lanes.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {
template <class T>
inline constexpr bool has_masks =
#if defined(__AVX512F__)
    std::is_same_v<T, float> || std::is_same_v<T, double>;
#else
    false;
#endif

/// Copies the first n < 2 * Piece elements of a vector, in pieces of powers of two, without a call or a loop. The
/// offset of a piece is n with bits masked off, so g++ can prove that it ends within the vector.
template <int Piece, class T>
CROCHET_ALWAYS_INLINE void copy_pieces(T* to, const T* from, std::int64_t n) {
  const std::int64_t at = n & ((lanes - 1) & ~(2 * Piece - 1));
  if ((n & Piece) != 0) __builtin_memcpy(to + at, from + at, Piece * sizeof(T));
  if constexpr (Piece > 1) copy_pieces<Piece / 2>(to, from, n);
}
/// Copies the first n <= lanes elements of a vector.
template <class T>
CROCHET_ALWAYS_INLINE void copy_some(T* to, const T* from, std::int64_t n) {
  if (n == lanes) {
    __builtin_memcpy(to, from, lanes * sizeof(T));
  } else {
    copy_pieces<lanes / 2>(to, from, n);
  }
}

#if defined(__AVX512F__)
// The builtins behind the intrinsics. The intrinsics' header takes a third of a second to compile; g++ and clang have
// the same builtins.
using Doubles = double __attribute__((vector_size(64)));

CROCHET_ALWAYS_INLINE unsigned mask_of(std::int64_t n) { return (1U << static_cast<unsigned>(n)) - 1U; }
CROCHET_ALWAYS_INLINE vec<float> load_masked(const float* p, unsigned mask, const vec<float>& fill) {
  return __builtin_ia32_loadups512_mask(p, fill, static_cast<std::uint16_t>(mask));
}
CROCHET_ALWAYS_INLINE void store_masked(float* p, unsigned mask, const vec<float>& v) {
  __builtin_ia32_storeups512_mask(p, v, static_cast<std::uint16_t>(mask));
}
CROCHET_ALWAYS_INLINE vec<double> load_masked(const double* p, unsigned mask, const vec<double>& fill) {
  Doubles half[2];
  __builtin_memcpy(half, &fill, sizeof half);
  half[0] = __builtin_ia32_loadupd512_mask(p, half[0], static_cast<std::uint8_t>(mask));
  half[1] = __builtin_ia32_loadupd512_mask(p + 8, half[1], static_cast<std::uint8_t>(mask >> 8U));
  vec<double> v;
  __builtin_memcpy(&v, half, sizeof v);
  return v;
}
CROCHET_ALWAYS_INLINE void store_masked(double* p, unsigned mask, const vec<double>& v) {
  Doubles half[2];
  __builtin_memcpy(half, &v, sizeof half);
  __builtin_ia32_storeupd512_mask(p, half[0], static_cast<std::uint8_t>(mask));
  __builtin_ia32_storeupd512_mask(p + 8, half[1], static_cast<std::uint8_t>(mask >> 8U));
}
#endif

template <int N, class V, class F, std::size_t... I>
CROCHET_ALWAYS_INLINE auto join_halves(const V& v, F join, std::index_sequence<I...>);

template <int N, class V, class F>
CROCHET_ALWAYS_INLINE auto across(const V& v, F join) {
  if constexpr (N == 2) {
    return join(v[0], v[1]);
  } else {
    return join_halves<N / 2>(v, join, std::make_index_sequence<N / 2>{});
  }
}
template <int N, class V, class F, std::size_t... I>
CROCHET_ALWAYS_INLINE auto join_halves(const V& v, F join, std::index_sequence<I...>) {
  const auto low = __builtin_shufflevector(v, v, I...), high = __builtin_shufflevector(v, v, (I + N)...);
  return across<N>(join(low, high), join);
}
}  // namespace detail

template <class T>
CROCHET_ALWAYS_INLINE vec<T> load(const T* p, Whole, T) {
  return load<T, true>(p);
}
/// Loads the first elements at p, with `fill` in the other lanes. Does not access memory past them.
template <class T>
CROCHET_ALWAYS_INLINE vec<T> load(const T* p, First part, T fill) {
  const vec<T> filled = splat<T, true>(fill);
#if defined(__AVX512F__)
  if constexpr (detail::has_masks<T>) return detail::load_masked(p, detail::mask_of(part.n), filled);
#endif
  vec<T> v = filled;
  detail::copy_some(reinterpret_cast<T*>(&v), p, part.n);
  return v;
}
template <class T>
CROCHET_ALWAYS_INLINE void store(T* p, const vec<T>& v, Whole) {
  store(p, v);
}
/// Stores the first elements only.
template <class T>
CROCHET_ALWAYS_INLINE void store(T* p, const vec<T>& v, First part) {
#if defined(__AVX512F__)
  if constexpr (detail::has_masks<T>) return detail::store_masked(p, detail::mask_of(part.n), v);
#endif
  detail::copy_some(p, reinterpret_cast<const T*>(&v), part.n);
}

/// Calls visit(first index, Whole or First) for each vector of n elements.
template <class Visit>
CROCHET_ALWAYS_INLINE void along(std::int64_t n, Visit visit) {
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes) visit(j, Whole{});
  if (j < n) visit(j, First{n - j});
}

/// Joins the elements of a vector to one, by repeated halving.
template <class V, class F>
CROCHET_ALWAYS_INLINE auto across(const V& v, F join) {
  return detail::across<lanes>(v, join);
}
template <class V>
CROCHET_ALWAYS_INLINE auto across_sum(const V& v) {
  return across(v, [](const auto& a, const auto& b) { return a + b; });
}
template <class V>
CROCHET_ALWAYS_INLINE auto across_max(const V& v) {
  return across(v, [](const auto& a, const auto& b) { return a > b ? a : b; });
}

/// The number of elements whose sums are kept in one accumulator: as many for every lane as add little rounding error.
inline constexpr std::int64_t sum_block = 128 * lanes;
/// Calls visit(first index, number) for each block of n elements.
template <class Visit>
CROCHET_ALWAYS_INLINE void in_sum_blocks(std::int64_t n, Visit visit) {
  for (std::int64_t j = 0; j < n; j += sum_block) visit(j, n - j < sum_block ? n - j : sum_block);
}

/// The sum of f(first index, Whole or First) over n elements. f must return 0 in unused lanes. Sums are kept in blocks,
/// so the rounding error does not grow with the length of the row, and in two accumulators to hide latency.
template <class T, class F>
CROCHET_ALWAYS_INLINE T sum_along(std::int64_t n, F f) {
  vec<T> total{};
  for (std::int64_t from = 0; from < n; from += sum_block) {
    vec<T> even{}, odd{};
    const std::int64_t end = n - from < sum_block ? n : from + sum_block;
    std::int64_t j = from;
    for (; j + 2 * lanes <= end; j += 2 * lanes) {
      even += f(j, Whole{});
      odd += f(j + lanes, Whole{});
    }
    along(end - j, [&](std::int64_t k, auto how) { even += f(j + k, how); });
    total += even + odd;
  }
  return across_sum(total);
}

/// The maximum of n elements; -infinity if n = 0. A NaN may be ignored.
template <class T>
[[gnu::noinline]] T max_along(const T* p, std::int64_t n) {
  constexpr T nothing = -std::numeric_limits<T>::infinity();
  constexpr int many = 4;
  const auto max = [](const vec<T>& a, const vec<T>& b) { return a > b ? a : b; };
  vec<T> top = splat<T, true>(nothing);
  std::int64_t j = 0;
  if (n >= many * lanes) {
    vec<T> part[many];
    CROCHET_UNROLL
    for (int u = 0; u < many; ++u) part[u] = top;
    for (; j + many * lanes <= n; j += many * lanes) {
      CROCHET_UNROLL
      for (int u = 0; u < many; ++u) part[u] = max(load<T, true>(p + j + u * lanes), part[u]);
    }
    CROCHET_UNROLL
    for (int u = 0; u < many; ++u) top = max(part[u], top);
  }
  along(n - j, [&](std::int64_t k, auto how) { top = max(load(p + j + k, how, nothing), top); });
  return across_max(top);
}

}  // namespace crochet::simd::CROCHET_ISA

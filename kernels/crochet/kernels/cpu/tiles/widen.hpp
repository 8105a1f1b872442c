// SPDX-License-Identifier: Apache-2.0
// Operands that are stored as bfloat16, as floats.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <crochet/kernels/registers.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// A vector of T from memory of B: T or, for float, bfloat16.
template <class T, class B>
CROCHET_ALWAYS_INLINE simd::vec<T> load_as(const B* from) {
  if constexpr (std::is_same_v<T, B>) {
    return simd::load<T, true>(from);
  } else {
    return simd::widen_bfloat16<simd::lanes>(simd::load<B, true>(from));
  }
}
/// As above, a machine register.
template <class T, class B>
CROCHET_ALWAYS_INLINE detail::native<T> load_native_as(const B* from) {
  if constexpr (std::is_same_v<T, B>) {
    detail::native<T> x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  } else {
    return load_as<T>(from);
  }
}
/// A row of a panel, in U registers. Of bfloat16 the first of two registers has the even columns and the second the odd
/// ones: two operations for both, where columns in order would take four.
template <class T, int U, class B>
CROCHET_ALWAYS_INLINE void load_row(const B* from, detail::native<T> (&to)[U]) {
  if constexpr (std::is_same_v<B, bfloat16> && U == 2) {
    using Pairs = simd::vec<std::uint32_t, native_lanes<float>>;
    Pairs pairs;
    __builtin_memcpy(&pairs, from, sizeof pairs);
    to[0] = reinterpret_cast<detail::native<float>>(pairs << 16U);
    to[1] = reinterpret_cast<detail::native<float>>(pairs & 0xFFFF'0000U);
  } else if constexpr (std::is_same_v<B, bfloat16>) {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) to[u] = load_as<T>(from + u * native_lanes<T>);
  } else {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) __builtin_memcpy(&to[u], from + u * native_lanes<T>, sizeof to[u]);
  }
}
/// Sums of rows of load_row<T, U, B>, with their columns in order.
template <class B, class T, int U>
CROCHET_ALWAYS_INLINE void put_in_order(T (&sums)[U]) {
  if constexpr (std::is_same_v<B, bfloat16> && U == 2) {
    constexpr int n = native_lanes<float>;
    const T even = sums[0], odd = sums[1];
    sums[0] = detail::zip<n, 0>(even, odd, std::make_index_sequence<n>{});
    sums[1] = detail::zip<n, 1>(even, odd, std::make_index_sequence<n>{});
  }
}

/// Copies n neighbours of B as T.
template <class T, class B>
void copy_as(const B* from, std::int64_t n, T* to) {
  std::int64_t i = 0;
  for (; i + simd::lanes <= n; i += simd::lanes) simd::store(to + i, load_as<T>(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

}  // namespace crochet::kernel::CROCHET_ISA

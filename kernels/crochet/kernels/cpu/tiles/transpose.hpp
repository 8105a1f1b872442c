// SPDX-License-Identifier: Apache-2.0
// Square blocks transposed in registers, and sums across the elements of several vectors at once.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>
#include <utility>

namespace crochet::kernel::CROCHET_ISA {

/// The number of elements T in one machine register.
template <class T>
inline constexpr int native_lanes = simd::lanes * 4 / static_cast<int>(sizeof(T));

namespace detail {
template <class T>
struct native_vector {
  // NOLINTNEXTLINE(modernize-use-using): as in simd.hpp
  typedef T type __attribute__((vector_size(native_lanes<T> * sizeof(T))));
};
template <class T>
using native = typename native_vector<T>::type;

/// a0 b0 a1 b1 ..., from the lower (Half = 0) or upper halves.
template <int N, int Half, class V, std::size_t... I>
CROCHET_ALWAYS_INLINE V zip(const V& a, const V& b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (static_cast<int>(I) / 2 + Half * N / 2 + (I % 2 != 0 ? N : 0))...);
}
/// Every second element of a and b, starting at the first (Odd = 0) or second.
template <int Odd, class V, std::size_t... I>
CROCHET_ALWAYS_INLINE V every_second(const V& a, const V& b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * static_cast<int>(I) + Odd)...);
}
}  // namespace detail

/// Transposes a block of native_lanes by native_lanes elements.
template <class T>
CROCHET_ALWAYS_INLINE void transpose_block(const T* from, std::int64_t from_pitch, T* to, std::int64_t to_pitch) {
  constexpr int n = native_lanes<T>;
  using V = detail::native<T>;
  using Lanes = std::make_index_sequence<n>;
  V a[n];
  CROCHET_UNROLL
  for (int i = 0; i < n; ++i) __builtin_memcpy(&a[i], from + i * from_pitch, sizeof(V));
  CROCHET_UNROLL
  for (int round = 1; round < n; round *= 2) {
    V b[n];
    CROCHET_UNROLL
    for (int i = 0; i < n / 2; ++i) {
      b[2 * i] = detail::zip<n, 0>(a[i], a[i + n / 2], Lanes{});
      b[2 * i + 1] = detail::zip<n, 1>(a[i], a[i + n / 2], Lanes{});
    }
    CROCHET_UNROLL
    for (int i = 0; i < n; ++i) a[i] = b[i];
  }
  CROCHET_UNROLL
  for (int i = 0; i < n; ++i) __builtin_memcpy(to + i * to_pitch, &a[i], sizeof(V));
}

/// Element i of the result is the sum of the elements of a[i], added pairwise.
template <class T>
CROCHET_ALWAYS_INLINE detail::native<T> sums_of_each(detail::native<T> (&a)[native_lanes<T>]) {
  constexpr int n = native_lanes<T>;
  using Lanes = std::make_index_sequence<n>;
  CROCHET_UNROLL
  for (int left = n / 2; left > 0; left /= 2) {
    CROCHET_UNROLL
    for (int i = 0; i < left; ++i) {
      a[i] = detail::every_second<0>(a[2 * i], a[2 * i + 1], Lanes{}) +
             detail::every_second<1>(a[2 * i], a[2 * i + 1], Lanes{});
    }
  }
  return a[0];
}

}  // namespace crochet::kernel::CROCHET_ISA

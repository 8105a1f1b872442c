// SPDX-License-Identifier: Apache-2.0
// Loads and stores of the first elements of a vector, for the end of a row. Memory past them is not accessed.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/registers.hpp>

namespace crochet::simd::CROCHET_ISA {

namespace detail {
template <class T, int N>
struct Bytes {
  char bytes[sizeof(T) * N];
};
/// Which instructions apply: 512-bit vectors have mask registers, 256-bit ones take their masks in vectors.
template <class T, int N>
inline constexpr bool masked_by_bits =
#if defined(__AVX512F__)
    std::is_floating_point_v<T> && sizeof(T) * N == 64;
#else
    false;
#endif
template <class T, int N>
inline constexpr bool masked_by_vectors =
#if defined(__AVX__)
    std::is_floating_point_v<T> && sizeof(T) * N == 32;
#else
    false;
#endif

/// A mask with all bits set in the first n elements.
template <class T, int N>
CROCHET_HOST_ALWAYS_INLINE auto first_elements(std::int64_t n) {
  using I = typename signed_integer<sizeof(T)>::type;
  vec<I, N> index;
  for (int k = 0; k < N; ++k) index[k] = static_cast<I>(k);
  return index < (static_cast<I>(n) - vec<I, N>{});
}
}  // namespace detail

/// Reads p[0] to p[n - 1], n <= N; the other elements are 0.
template <class T, int N>
CROCHET_HOST_ALWAYS_INLINE cells_t<T, N> read_first(const T* p, std::int64_t n) {
  cells_t<T, N> v{};
#if defined(__AVX512F__)
  if constexpr (detail::masked_by_bits<T, N>) {
    static_assert(sizeof(detail::Bytes<T, N>) == 64);  // also makes the type complete, which clang requires
    const auto mask = static_cast<unsigned short>((1U << n) - 1U);
    const auto& memory = *reinterpret_cast<const detail::Bytes<T, N>*>(p);
    if constexpr (sizeof(T) == 4) {
      asm("vmovups %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(memory), "Yk"(mask));
    } else {
      asm("vmovupd %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(memory), "Yk"(mask));
    }
    return v;
  }
#endif
#if defined(__AVX__)
  if constexpr (detail::masked_by_vectors<T, N>) {
    static_assert(sizeof(detail::Bytes<T, N>) == 32);
    const auto mask = detail::first_elements<T, N>(n);
    const auto& memory = *reinterpret_cast<const detail::Bytes<T, N>*>(p);
    if constexpr (sizeof(T) == 4) {
      asm("vmaskmovps %1, %2, %0" : "=x"(v) : "m"(memory), "x"(mask));
    } else {
      asm("vmaskmovpd %1, %2, %0" : "=x"(v) : "m"(memory), "x"(mask));
    }
    return v;
  }
#endif
  __builtin_memcpy(&v, p, static_cast<std::size_t>(n) * sizeof(T));
  return v;
}

/// Writes the first n elements of v.
template <class T, int N, class V>
CROCHET_HOST_ALWAYS_INLINE void write_first(T* p, const V& v, std::int64_t n) {
#if defined(__AVX512F__)
  if constexpr (detail::masked_by_bits<T, N>) {
    static_assert(sizeof(detail::Bytes<T, N>) == 64);  // also makes the type complete, which clang requires
    const auto mask = static_cast<unsigned short>((1U << n) - 1U);
    auto& memory = *reinterpret_cast<detail::Bytes<T, N>*>(p);
    if constexpr (sizeof(T) == 4) {
      asm("vmovups %1, %0%{%2%}" : "=m"(memory) : "v"(v), "Yk"(mask), "m"(memory));
    } else {
      asm("vmovupd %1, %0%{%2%}" : "=m"(memory) : "v"(v), "Yk"(mask), "m"(memory));
    }
    return;
  }
#endif
#if defined(__AVX__)
  if constexpr (detail::masked_by_vectors<T, N>) {
    static_assert(sizeof(detail::Bytes<T, N>) == 32);
    const auto mask = detail::first_elements<T, N>(n);
    auto& memory = *reinterpret_cast<detail::Bytes<T, N>*>(p);
    if constexpr (sizeof(T) == 4) {
      asm("vmaskmovps %1, %2, %0" : "=m"(memory) : "x"(v), "x"(mask), "m"(memory));
    } else {
      asm("vmaskmovpd %1, %2, %0" : "=m"(memory) : "x"(v), "x"(mask), "m"(memory));
    }
    return;
  }
#endif
  __builtin_memcpy(static_cast<void*>(p), &v, static_cast<std::size_t>(n) * sizeof(T));
}

}  // namespace crochet::simd::CROCHET_ISA

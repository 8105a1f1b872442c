// SPDX-License-Identifier: Apache-2.0
// Floats rounded to bfloat16 (8 significant bits, the range of float), two to a word: the numbers at depths 2k and
// 2k + 1 of a product. A product of two words is a sum of two products of bfloat16, which are exact in float, added to
// a float. It is one instruction where the processor has AVX512-BF16; elsewhere each number is widened to a float.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <crochet/kernels/registers.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Two numbers: the first is the lower half.
using Bfloat16Pair = std::uint32_t;

/// The pairs of a number of elements.
constexpr std::int64_t pairs_in(std::int64_t elements) { return (elements + 1) / 2; }

namespace detail {
#if defined(__AVX512BF16__)
/// The elements of x, then those of y.
CROCHET_ALWAYS_INLINE native<Bfloat16Pair> convert_two(const native<float>& x, const native<float>& y) {
  native<Bfloat16Pair> halves;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(halves) : "v"(x), "v"(y));
  return halves;
}
/// v0, v16, v1, v17, ... of 32 elements.
template <class V, std::size_t... I>
CROCHET_ALWAYS_INLINE V interleave(const V& v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, static_cast<int>(I / 2 + (I % 2) * sizeof...(I) / 2)...);
}
#endif

/// One pair from each element of x and y.
CROCHET_ALWAYS_INLINE native<Bfloat16Pair> join(const native<float>& x, const native<float>& y) {
#if defined(__AVX512BF16__)
  constexpr int n = 2 * native_lanes<float>;
  using Halves = simd::vec<std::uint16_t, n>;
  const auto halves = reinterpret_cast<Halves>(convert_two(x, y));
  return reinterpret_cast<native<Bfloat16Pair>>(interleave(halves, std::make_index_sequence<n>{}));
#else
  return simd::upper_halves<simd::lanes>(y) | simd::upper_halves<simd::lanes>(x) >> 16;
#endif
}
inline Bfloat16Pair join(float x, float y) { return Bfloat16Pair{bfloat16(y).bits()} << 16U | bfloat16(x).bits(); }

/// The pairs of neighbours in two registers of floats.
CROCHET_ALWAYS_INLINE native<Bfloat16Pair> join_neighbours(const float* from) {
  native<float> x, y;
  __builtin_memcpy(&x, from, sizeof x);
  __builtin_memcpy(&y, from + native_lanes<float>, sizeof y);
#if defined(__AVX512BF16__)
  return convert_two(x, y);
#else
  using Lanes = std::make_index_sequence<native_lanes<float>>;
  return join(every_second<0>(x, y, Lanes{}), every_second<1>(x, y, Lanes{}));
#endif
}

/// c + a0 b0 + a1 b1 for each element.
CROCHET_ALWAYS_INLINE void add_pair(native<float>& c, const native<Bfloat16Pair>& a, const native<Bfloat16Pair>& b) {
#if defined(__AVX512BF16__)
  // By inline assembly: the types of the compilers' functions differ, also between versions of g++.
  asm("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
#else
  using Floats = native<float>;
  constexpr Bfloat16Pair upper = 0xffff0000;
  c += reinterpret_cast<Floats>(a << 16) * reinterpret_cast<Floats>(b << 16);
  c += reinterpret_cast<Floats>(a & upper) * reinterpret_cast<Floats>(b & upper);
#endif
}
}  // namespace detail

/// Rounds a line of `depth` neighbours to pairs. The last one of an odd depth is completed by 0.
inline void round_line(const float* from, std::int64_t depth, Bfloat16Pair* to) {
  constexpr std::int64_t step = native_lanes<float>;
  std::int64_t k = 0;
  for (; k + step <= depth / 2; k += step) {
    const auto pairs = detail::join_neighbours(from + 2 * k);
    __builtin_memcpy(to + k, &pairs, sizeof pairs);
  }
  if (k == pairs_in(depth)) return;
  float rest[2 * step] = {};
  __builtin_memcpy(rest, from + 2 * k, static_cast<std::size_t>(depth - 2 * k) * sizeof *from);
  const auto pairs = detail::join_neighbours(rest);
  __builtin_memcpy(to + k, &pairs, static_cast<std::size_t>(pairs_in(depth) - k) * sizeof *to);
}

/// Rounds two lines to one line of pairs of an element of each. `second` may be null: zeros.
inline void round_lines(const float* first, const float* second, std::int64_t n, Bfloat16Pair* to) {
  constexpr std::int64_t step = native_lanes<float>;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    detail::native<float> x, y{};
    __builtin_memcpy(&x, first + i, sizeof x);
    if (second != nullptr) __builtin_memcpy(&y, second + i, sizeof y);
    const auto pairs = detail::join(x, y);
    __builtin_memcpy(to + i, &pairs, sizeof pairs);
  }
  CROCHET_SHORT_LOOP
  for (; i < n; ++i) to[i] = detail::join(first[i], second != nullptr ? second[i] : 0.0F);
}

/// The same for a line that is rounded already.
inline void round_line(const bfloat16* from, std::int64_t depth, Bfloat16Pair* to) {
  if (depth % 2 != 0) to[depth / 2] = from[depth - 1].bits();
  __builtin_memcpy(to, from, static_cast<std::size_t>(depth / 2) * sizeof *to);
}
inline void round_lines(const bfloat16* first, const bfloat16* second, std::int64_t n, Bfloat16Pair* to) {
  const auto upper = [second](std::int64_t i) {
    return second != nullptr ? Bfloat16Pair{second[i].bits()} << 16U : 0U;
  };
  for (std::int64_t i = 0; i < n; ++i) to[i] = first[i].bits() | upper(i);
}

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// Floats rounded to integers of 8 bits, four to a word: the numbers at depths 4k to 4k + 3 of a product. Those of a
// left operand are stored plus 128. A product of two words is a sum of four products, which are exact, added to an
// integer: one instruction where the processor has AVX512-VNNI or, on ARM, I8MM.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <limits>

namespace crochet::kernel::CROCHET_ISA {

/// Four numbers: the first is the lowest byte.
using Int8Quad = std::int32_t;

/// The words of a number of elements.
constexpr std::int64_t quads_in(std::int64_t elements) { return (elements + 3) / 4; }

/// The most products whose sum fits 32 bits in any order: 2^31 / 128^2 / 2.
inline constexpr std::int64_t most_int8_depth = std::int64_t{1} << 16;
/// The fewest products that are rounded: those of one quad.
inline constexpr std::int64_t least_int8_depth = 4;

/// How numbers are rounded: x is scale * n, where n, from -127 to 127, is the integer nearest to x * inverse.
struct Int8Scale {
  float scale = 0, inverse = 0;

  /// For numbers whose largest magnitude has these bits. If that is infinite or NaN, all results are NaN.
  static Int8Scale of(std::int32_t magnitude) {
    constexpr float most = 127;
    float largest = 0;
    __builtin_memcpy(&largest, &magnitude, sizeof largest);
    if (!(largest <= std::numeric_limits<float>::max())) return {std::numeric_limits<float>::quiet_NaN(), 0};
    const float inverse = most / largest;
    // Also for magnitudes so small that the quotient is infinite.
    return inverse <= std::numeric_limits<float>::max() ? Int8Scale{largest / most, inverse} : Int8Scale{};
  }
};

namespace detail {
using Quads = native<Int8Quad>;

/// The larger of each element's magnitude and `most`, as bits. Bits of magnitudes compare as integers; NaN is the
/// largest.
CROCHET_ALWAYS_INLINE Quads larger_magnitude(const Quads& most, const native<float>& x) {
  Quads bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits &= std::numeric_limits<std::int32_t>::max();
  return bits > most ? bits : most;
}
inline std::int32_t largest_of(const Quads& magnitudes) {
  std::int32_t most = 0;
  for (int i = 0; i < native_lanes<Int8Quad>; ++i) most = magnitudes[i] > most ? magnitudes[i] : most;
  return most;
}

/// x * inverse rounded to the nearest integer, ties to even; the lowest byte of each element. The sum has the integer
/// in its lowest bits. `inverse`: a number, or one for each element.
template <class Inverse>
CROCHET_ALWAYS_INLINE Quads round_to_int8(const native<float>& x, const Inverse& inverse) {
  const native<float> sum = x * inverse + 0x1.8p23F;
  Quads bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  return bits;
}

#if defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)) || (defined(__SSE2__) && !defined(__AVX__))
#define CROCHET_HAS_PMADDWD
/// The sums of products of neighbours, of integers of 16 bits.
CROCHET_ALWAYS_INLINE Quads multiply_neighbours(const Quads& a, const Quads& b) {
  Quads sums;
#if defined(__AVX2__)
  asm("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(a), "v"(b));
#else
  sums = a;
  asm("pmaddwd %1, %0" : "+x"(sums) : "x"(b));
#endif
  return sums;
}
#endif

/// c + the four products of each element of a left and a right operand.
CROCHET_ALWAYS_INLINE void add_quad(Quads& c, const Quads& left, const Quads& right) {
#if defined(__AVX512VNNI__) && defined(__clang__)
  c = __builtin_ia32_vpdpbusd512(c, left, right);
#elif defined(__AVX512VNNI__)
  c = __builtin_ia32_vpdpbusd_v16si(c, left, right);
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  asm("usdot %0.4s, %1.16b, %2.16b" : "+w"(c) : "w"(left), "w"(right));
#elif defined(__ARM_FEATURE_DOTPROD)
  // Both operands of this instruction are signed. 128 times the right numbers, which all rows of a tile share, are two
  // sums of 64 times those.
  Quads half{};
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(half) : "w"(Quads{} + 0x40404040), "w"(right));
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(c) : "w"(left ^ static_cast<Int8Quad>(0x80808080U)), "w"(right));
  c += half + half;
#elif defined(CROCHET_HAS_PMADDWD)
  using Halves = simd::vec<std::int16_t, 2 * native_lanes<Int8Quad>>;
  constexpr Int8Quad even = 0x00ff00ff;
  const auto halves = reinterpret_cast<Halves>(right);
  c += multiply_neighbours(left & even, reinterpret_cast<Quads>(halves << 8 >> 8));
  c += multiply_neighbours(left >> 8 & even, reinterpret_cast<Quads>(halves >> 8));
#else
  CROCHET_UNROLL
  for (int byte = 0; byte < 4; ++byte) c += (left >> 8 * byte & 0xff) * (right << (24 - 8 * byte) >> 24);
#endif
}

/// One word of a right operand from each element of four lines.
CROCHET_ALWAYS_INLINE Quads join_four(const Quads& a, const Quads& b, const Quads& c, const Quads& d) {
  constexpr Int8Quad byte = 0xff;
  return (a & byte) | (b & byte) << 8 | (c & byte) << 16 | d << 24;
}
}  // namespace detail

/// The largest magnitude of n numbers, as the bits of a float.
inline std::int32_t largest_magnitude(const float* from, std::int64_t n) {
  constexpr std::int64_t step = native_lanes<float>;
  detail::Quads most{};
  detail::native<float> x;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    __builtin_memcpy(&x, from + i, sizeof x);
    most = detail::larger_magnitude(most, x);
  }
  if (i < n) {
    x = detail::native<float>{};
    __builtin_memcpy(&x, from + i, static_cast<std::size_t>(n - i) * sizeof *from);
    most = detail::larger_magnitude(most, x);
  }
  return detail::largest_of(most);
}

/// Rounds n numbers to bytes, plus `offset`: 128 for a left operand. Writes whole registers: room for n + native_lanes.
inline void round_to_bytes(const float* from, std::int64_t n, float inverse, Int8Quad offset, std::uint8_t* to) {
  constexpr std::int64_t step = native_lanes<float>;
  using Bytes = simd::vec<std::uint8_t, native_lanes<float>>;
  const auto store = [&](const detail::native<float>& x, std::int64_t i) {
    const auto bytes = __builtin_convertvector(detail::round_to_int8(x, inverse) + offset, Bytes);
    __builtin_memcpy(to + i, &bytes, sizeof bytes);
  };
  detail::native<float> x;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    __builtin_memcpy(&x, from + i, sizeof x);
    store(x, i);
  }
  if (i == n) return;
  x = detail::native<float>{};
  __builtin_memcpy(&x, from + i, static_cast<std::size_t>(n - i) * sizeof *from);
  store(x, i);
}

#undef CROCHET_HAS_PMADDWD

}  // namespace crochet::kernel::CROCHET_ISA

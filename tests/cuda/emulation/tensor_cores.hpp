// SPDX-License-Identifier: Apache-2.0
// The products of tensor cores on the host: formats of operands, and mma.sync on the fragments of a warp.
#pragma once
#include <bit>
#include <cstdint>

#include <crochet/kernels/cuda/block.hpp>

namespace emulation {

/// The nearest TF32 number, of two the one of larger magnitude (cvt.rna.tf32.f32).
inline std::uint32_t tf32_of(float x) {
  constexpr std::uint32_t half = 1U << 12, infinity = 0x7f800000U, nan = 0x7fffffffU;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & nan) > infinity) return nan;
  if ((bits & nan) == infinity) return bits;
  return (bits + half) & ~(2 * half - 1);
}
/// The nearest bfloat16 number, of two the even one (cvt.rn.bf16.f32).
inline std::uint32_t bf16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}
inline float bf16_value(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

/// The operands of one lane.
struct Fragment {
  std::uint32_t a[4], b[2];
};
template <class A, class B>
Fragment fragment(const A& a, const B& b) {
  return {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
}

/// The product of the words of a row and of a column, in float.
template <crochet::MatmulPrecision P>
float word_product(std::uint32_t a, std::uint32_t b) {
  if constexpr (P == crochet::MatmulPrecision::tf32) {
    return std::bit_cast<float>(a) * std::bit_cast<float>(b);
  } else {
    constexpr std::uint32_t low = 0xffffU;
    return bf16_value(a & low) * bf16_value(b & low) + bf16_value(a >> 16) * bf16_value(b >> 16);
  }
}

/// Adds the four elements of the product that belong to a lane. fragments: of the 32 lanes.
template <crochet::MatmulPrecision P>
void multiply_fragments(int lane, float (&c)[4], const Fragment (&fragments)[crochet::cuda::warp_size]) {
  const int group = lane / 4, place = lane % 4;
  for (int t = 0; t < 4; ++t) {
    const Fragment &row = fragments[group * 4 + t], &first = fragments[place * 8 + t],
                   &second = fragments[place * 8 + 4 + t];
    for (int half = 0; half < 2; ++half) {
      c[0] += word_product<P>(row.a[2 * half], first.b[half]);
      c[1] += word_product<P>(row.a[2 * half], second.b[half]);
      c[2] += word_product<P>(row.a[2 * half + 1], first.b[half]);
      c[3] += word_product<P>(row.a[2 * half + 1], second.b[half]);
    }
  }
}

}  // namespace emulation

// SPDX-License-Identifier: Apache-2.0
// Int8Product: a product of rows of four integers of 8 bits to a word by a panel of such words. Results are the sums
// times the scales of row and column.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/int8_panel.hpp>
#include <crochet/kernels/cpu/tiles/rounded_product.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// The sums of R rows by U registers of a panel of words. `start`: the sums of no words.
template <int R, int U>
CROCHET_HOST_ALWAYS_INLINE void accumulate_quads(const Int8Quad* a, std::int64_t row, const Int8Quad* b,
                                                 std::int64_t words, const Int8Quad* start, Quads (&c)[R][U]) {
  CROCHET_UNROLL
  for (int i = 0; i < R; ++i) {
    CROCHET_UNROLL  // one by one: g++ keeps a row of registers that is copied as a whole in memory
        for (int u = 0; u < U; ++u) __builtin_memcpy(&c[i][u], start + u * native_lanes<float>, sizeof c[i][u]);
  }
  for (std::int64_t k = 0; k < words; ++k, ++a, b += Int8Panel::width) {
    Quads bv[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) __builtin_memcpy(&bv[u], b + u * native_lanes<float>, sizeof bv[u]);
    CROCHET_UNROLL
    for (int i = 0; i < R; ++i) {
      const Quads x = a[i * row] - Quads{};
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) add_quad(c[i][u], x, bv[u]);
    }
  }
}

/// A product of rounded operands by one panel of columns.
struct Int8Product : RoundedProduct<Int8Product> {
  using Sum = Int8Quad;

  Int8Rows a;
  Int8Panel panel;
  std::int64_t words, first;  ///< row 0 of a is row `first` of the product

  template <int R>
  CROCHET_HOST_ALWAYS_INLINE void tile(std::int64_t i, native<float> (&results)[R][wide]) const {
    Quads c[R][wide];
    accumulate_quads(a.words + (i - first) * a.pitch, a.pitch, panel.words, words, panel.sums, c);
    native<float> scale[wide];
    CROCHET_UNROLL
    for (int u = 0; u < wide; ++u) __builtin_memcpy(&scale[u], panel.scales + u * native_lanes<float>, sizeof scale[u]);
    CROCHET_UNROLL
    for (int r = 0; r < R; ++r) {
      CROCHET_UNROLL
      for (int u = 0; u < wide; ++u) {  // one scale after the other: their product may be out of range
        results[r][u] = __builtin_convertvector(c[r][u], native<float>) * scale[u] * a.scales[i - first + r];
      }
    }
  }
  AmxOperands<Int8Quad> amx_operands(std::int64_t i) const {
    return {a.words + (i - first) * a.pitch, a.pitch, panel.words, words};
  }
  CROCHET_HOST_ALWAYS_INLINE void results(std::int64_t i, const Int8Quad* sums, native<float> (&to)[wide]) const {
    CROCHET_UNROLL
    for (int u = 0; u < wide; ++u) {
      Quads sum, offset;
      native<float> scale;
      __builtin_memcpy(&sum, sums + u * native_lanes<float>, sizeof sum);
      __builtin_memcpy(&offset, panel.sums + u * native_lanes<float>, sizeof offset);
      __builtin_memcpy(&scale, panel.scales + u * native_lanes<float>, sizeof scale);
      to[u] = __builtin_convertvector(sum + offset, native<float>) * scale * a.scales[i - first];
    }
  }
};

}  // namespace crochet::kernel::CROCHET_ISA::detail

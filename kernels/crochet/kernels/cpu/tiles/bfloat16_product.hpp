// SPDX-License-Identifier: Apache-2.0
// PairedProduct: a product of rows of pairs of bfloat16 by a panel of pairs, summed in float.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16_panel.hpp>
#include <crochet/kernels/cpu/tiles/rounded_product.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// The sums of R rows by U registers of a panel of pairs.
template <int R, int U>
CROCHET_HOST_ALWAYS_INLINE void accumulate_pairs(const Bfloat16Pair* a, std::int64_t row, std::int64_t column,
                                                 const Bfloat16Pair* b, std::int64_t pairs, native<float> (&c)[R][U]) {
  constexpr std::int64_t pitch = panel_width<float>;
  CROCHET_UNROLL
  for (int i = 0; i < R; ++i) {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) c[i][u] = native<float>{};
  }
  for (std::int64_t k = 0; k < pairs; ++k, a += column, b += pitch) {
    native<Bfloat16Pair> bv[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) __builtin_memcpy(&bv[u], b + u * native_lanes<float>, sizeof bv[u]);
    CROCHET_UNROLL
    for (int i = 0; i < R; ++i) {
      const native<Bfloat16Pair> x = a[i * row] - native<Bfloat16Pair>{};
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) add_pair(c[i][u], x, bv[u]);
    }
  }
}

/// A product of pairs by one panel of columns.
struct PairedProduct : RoundedProduct<PairedProduct> {
  using Sum = float;

  Bfloat16Pairs a;            ///< its row 0 is row `first` of the product
  const Bfloat16Pair* panel;  ///< [pairs, panel_width<float>]
  std::int64_t pairs, first;

  template <int R>
  CROCHET_HOST_ALWAYS_INLINE void tile(std::int64_t i, native<float> (&results)[R][wide]) const {
    const Bfloat16Pair* row = a.data + (i - first) * a.row;
    // With a constant distance of 1 the addresses have constant offsets from one base.
    if (a.row == 1) {
      accumulate_pairs(row, 1, a.column, panel, pairs, results);
    } else {
      accumulate_pairs(row, a.row, 1, panel, pairs, results);
    }
  }
  AmxOperands<Bfloat16Pair> amx_operands(std::int64_t i) const {
    return {a.data + (i - first) * a.row, a.row, panel, pairs};
  }
  CROCHET_HOST_ALWAYS_INLINE void results(std::int64_t, const float* sums, native<float> (&to)[wide]) const {
    __builtin_memcpy(to, sums, sizeof to);
  }
};

}  // namespace crochet::kernel::CROCHET_ISA::detail

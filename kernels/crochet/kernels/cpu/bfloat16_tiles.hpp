// SPDX-License-Identifier: Apache-2.0
// Bfloat16Tiles: the product policy that rounds the operands of products of floats to bfloat16 and sums in float. The
// rounded operands are in scratch memory: rows of the left one, and a panel of the right one at a time.
#pragma once
#include <crochet/kernels/cpu/tiles/bfloat16_panel.hpp>
#include <crochet/kernels/cpu/tiles/rounded_product.hpp>

namespace crochet::kernel {

namespace detail {

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
};

}  // namespace detail

class Bfloat16Tiles : public RoundingTiles<Bfloat16Tiles> {
 public:
  static constexpr bool rounds_to_bfloat16 = true;
  static constexpr bool rounds_stored_bfloat16 = true;

  static constexpr bool rounds(std::int64_t depth) { return depth > 1; }
  static constexpr std::int64_t words(std::int64_t rows, std::int64_t depth) {
    return pairs_in(depth) * (rows + 2 * panel_width<float>);
  }
  template <ProductPaths P, class B, class Epilogue>
  static void multiply_rounded(const Matrix<float>& a, const Matrix<B>& b, std::int64_t depth, Range rows,
                               Range columns, float* room, const Epilogue& epilogue) {
    const std::int64_t pairs = pairs_in(depth);
    auto* const panel = reinterpret_cast<Bfloat16Pair*>(room);
    Bfloat16Pair* const lines = panel + pairs * panel_width<float>;
    detail::PairedProduct product;
    product.a = detail::rounded_rows(a, depth, rows, lines + pairs * panel_width<float>);
    product.panel = panel;
    product.pairs = pairs;
    product.first = rows.from;
    const auto round = [&](std::int64_t j, std::int64_t n) { detail::rounded_panel(b, depth, j, n, panel, lines); };
    product.multiply<P>(rows, columns, round, epilogue);
  }
};

}  // namespace crochet::kernel

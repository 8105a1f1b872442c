// SPDX-License-Identifier: Apache-2.0
// Int8Tiles: the product policy that rounds the operands of products of floats to integers of 8 bits, for inference.
#pragma once
#include <crochet/kernels/cpu/tiles/int8_panel.hpp>
#include <crochet/kernels/cpu/tiles/rounded_product.hpp>

namespace crochet::kernel {

namespace detail {

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
};

}  // namespace detail

/// Each row of a left operand is rounded with a scale of its own, and each column of a right one: its largest magnitude
/// is 127. Results are the sums of products of the integers, which are exact, times both scales. Sums that could exceed
/// 32 bits are of floats.
class Int8Tiles : public RoundingTiles<Int8Tiles> {
 public:
  static constexpr bool rounds_to_int8 = true;
  static constexpr bool rounds_stored_bfloat16 = false;

  static constexpr bool rounds(std::int64_t depth) { return depth >= least_int8_depth && depth <= most_int8_depth; }
  /// For a panel of floats and one of words, a line, and the rows with their scales.
  static constexpr std::int64_t words(std::int64_t rows, std::int64_t depth) {
    return panel_scratch<float>(depth) + Int8Panel::room(quads_in(depth)) + depth +
           rows * (Int8Rows::pitch_of(depth) + 1);
  }
  template <ProductPaths P, class Epilogue>
  static void multiply_rounded(const Matrix<float>& a, const Matrix<float>& b, std::int64_t depth, Range rows,
                               Range columns, float* floats, const Epilogue& epilogue) {
    const std::int64_t words = quads_in(depth);
    auto* const room = reinterpret_cast<Int8Quad*>(floats + panel_scratch<float>(depth));
    float* const line = reinterpret_cast<float*>(room + Int8Panel::room(words));
    float* const scales = line + depth;
    detail::Int8Product product;
    product.a = {reinterpret_cast<Int8Quad*>(scales + rows.size()), scales, Int8Rows::pitch_of(depth)};
    product.panel = Int8Panel::in(room, words);
    product.words = words;
    product.first = rows.from;
    detail::round_rows(a, depth, rows, product.a, line);
    const auto round = [&](std::int64_t j, std::int64_t n) {
      detail::round_panel(b, depth, depth, j, n, product.panel, floats);
      detail::sum_columns(product.panel.words, words, product.panel.sums);
    };
    product.multiply<P>(rows, columns, round, epilogue);
  }
};

}  // namespace crochet::kernel

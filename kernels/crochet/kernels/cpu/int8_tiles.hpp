// SPDX-License-Identifier: Apache-2.0
// Int8Tiles: the product policy that rounds the operands of products of floats to integers of 8 bits, for inference.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/int8_product.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Each row of a left operand is rounded with a scale of its own, and each column of a right one: its largest magnitude
/// is 127. Results are the sums of products of the integers, which are exact, times both scales. Sums that could exceed
/// 32 bits are of floats.
class Int8Tiles : public RoundingTiles<Int8Tiles> {
 public:
  static constexpr bool rounds_to_int8 = true;
  static constexpr bool rounds_stored_bfloat16 = false;
  static constexpr std::int64_t numbers_in_word = 4;

  static constexpr bool rounds(std::int64_t depth) { return depth >= least_int8_depth && depth <= most_int8_depth; }
  /// For a panel of floats and one of words, a line, and the rows with their scales.
  static constexpr std::int64_t words(std::int64_t rows, std::int64_t depth) {
    return panel_scratch<float>(depth) + Int8Panel::room(amx_whole(quads_in(depth))) + depth + rows +
           amx_whole(rows) * Int8Rows::pitch_of(depth) + 2 * amx_alignment;
  }
  template <ProductPaths P, class Epilogue>
  static void multiply_rounded(const Matrix<float>& a, const Matrix<float>& b, std::int64_t depth, Range rows,
                               Range columns, float* floats, const Epilogue& epilogue) {
    const std::int64_t words = amx_whole(quads_in(depth));
    Int8Quad* const room = amx_aligned(reinterpret_cast<Int8Quad*>(floats + panel_scratch<float>(depth)));
    float* const line = reinterpret_cast<float*>(room + Int8Panel::room(words));
    float* const scales = line + depth;
    detail::Int8Product product;
    product.a = {amx_aligned(reinterpret_cast<Int8Quad*>(scales + rows.size())), scales, Int8Rows::pitch_of(depth)};
    product.panel = Int8Panel::in(room, words);
    product.words = words;
    product.first = rows.from;
    detail::clear_words(room, quads_in(depth), words);
    detail::round_rows(a, depth, rows, product.a, line);
    const auto round = [&](std::int64_t j, std::int64_t n) {
      detail::round_panel(b, depth, depth, j, n, product.panel, floats);
      detail::sum_columns(product.panel.words, words, product.panel.sums);
    };
    product.multiply<P>(rows, columns, round, epilogue);
  }
};

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// Bfloat16Tiles: the product policy that rounds the operands of products of floats to bfloat16 and sums in float. The
// rounded operands are in scratch memory: rows of the left one, and a panel of the right one at a time.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16_product.hpp>

namespace crochet::kernel::CROCHET_ISA {

class Bfloat16Tiles : public RoundingTiles<Bfloat16Tiles> {
 public:
  static constexpr bool rounds_to_bfloat16 = true;
  static constexpr bool rounds_stored_bfloat16 = true;
  static constexpr std::int64_t numbers_in_word = 2;

  static constexpr bool rounds(std::int64_t depth) { return depth > 1; }
  static constexpr std::int64_t words(std::int64_t rows, std::int64_t depth) {
    const std::int64_t pairs = amx_whole(pairs_in(depth));
    const std::int64_t operands = pairs * (amx_whole(rows) + panel_width<float>);
    return operands + line_room(rows, depth) + amx_alignment;
  }
  template <ProductPaths P, class B, class Epilogue>
  static void multiply_rounded(const Matrix<float>& a, const Matrix<B>& b, std::int64_t depth, Range rows,
                               Range columns, float* room, const Epilogue& epilogue) {
    const std::int64_t pairs = amx_whole(pairs_in(depth));
    Bfloat16Pair* const panel = amx_aligned(reinterpret_cast<Bfloat16Pair*>(room));
    Bfloat16Pair* const left = panel + pairs * panel_width<float>;
    Bfloat16Pair* const lines = left + pairs * amx_whole(rows.size());
    detail::clear_words(panel, pairs_in(depth), pairs);
    detail::PairedProduct product;
    product.a = detail::rounded_rows(a, depth, rows, left, lines);
    product.panel = panel;
    product.pairs = pairs;
    product.first = rows.from;
    const auto round = [&](std::int64_t j, std::int64_t n) { detail::rounded_panel(b, depth, j, n, panel, lines); };
    product.multiply<P>(rows, columns, round, epilogue);
  }

 private:
  /// The room for lines of one operand or the other before they are transposed.
  static constexpr std::int64_t line_room(std::int64_t rows, std::int64_t depth) {
    const std::int64_t right = pairs_in(depth) * panel_width<float>;
    const std::int64_t turned = compiled_for_amx ? native_lanes<float> * amx_whole(rows) : 0;
    return right < turned ? turned : right;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA

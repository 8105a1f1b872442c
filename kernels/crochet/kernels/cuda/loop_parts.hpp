// SPDX-License-Identifier: Apache-2.0
// LoopParts: how a loop with reductions is divided among blocks, by its sizes only.
#pragma once
#include <crochet/kernels/cuda/block.hpp>
#include <crochet/kernels/cuda/room.hpp>

namespace crochet::cuda {

/// How a reducing loop is divided.
enum class LoopForm : std::uint8_t {
  flat,   ///< only totals of all elements, and rows need not be told apart: any elements
  tiles,  ///< tiles of columns, as wide as a warp
  rows    ///< one result a row: whole rows, a warp for each
};

/// The parts of a reducing loop: a number of rows each (flat: of elements), in tiles of columns.
struct LoopParts {
  LoopForm form;
  int each, parts, tiles;

  static constexpr int most_parts = 64, warps = 8;
  CROCHET_ALWAYS_INLINE static constexpr LoopParts of(LoopForm form, int rows, int columns) {
    const bool flat = form == LoopForm::flat;
    const int n = flat ? rows * columns : rows, grain = flat ? 2048 : warps;
    int each = (n + most_parts - 1) / most_parts;
    each = (each + grain - 1) / grain * grain;
    each = each < grain ? grain : each;
    const int parts = n < 1 ? 1 : (n + each - 1) / each;
    const int tiles = form != LoopForm::tiles || columns < 1 ? 1 : (columns + warp_size - 1) / warp_size;
    return {form, each, parts, tiles};
  }
  /// Bytes of partial results of an access: one of each column and part, or one of each part, tile and warp.
  CROCHET_ALWAYS_INLINE constexpr std::int64_t bytes(bool by_columns, int columns) const {
    constexpr std::int64_t each_total = 8;
    const std::int64_t lines = form == LoopForm::rows ? warps : 1, totals = std::int64_t{tiles} * warps;
    return each_total * parts * (by_columns ? lines * columns : totals);
  }
  /// The place of a column's partial result in line `line`: of a part, or of a warp of it.
  CROCHET_ALWAYS_INLINE static constexpr std::int64_t place(int line, int column, int columns) {
    return std::int64_t{line} * columns + column;
  }
  CROCHET_ALWAYS_INLINE constexpr Room room(int sums_of_columns, int totals, int columns) const {
    return {sums_of_columns * bytes(true, columns) + totals * bytes(false, columns), tiles + 1};
  }
};

}  // namespace crochet::cuda

// SPDX-License-Identifier: Apache-2.0
// The position of a block. Elementwise loops run over flat positions in blocks, independent of rows and columns, so
// short rows fill registers as well as long ones.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The current block of a loop: `size` positions from `at`, which is column `j` of row `i`. Only the last block has
/// fewer than B positions.
template <int B>
struct Block {
  std::int64_t rows, columns;
  std::int64_t at = 0, size = B;
  std::int64_t i = 0, j = 0;
  std::int64_t phase = 0;   ///< `j` modulo `period`
  std::int64_t period = 0;  ///< a multiple of `columns` and at least B

  Block(std::int64_t rows_, std::int64_t columns_, Range part) : rows(rows_), columns(columns_), at(part.from) {
    size = part.size() < B ? part.size() : B;
    if (columns == 0) return;
    i = at / columns;
    phase = j = at % columns;
    period = columns < B ? (B + columns - 1) / columns * columns : columns;
  }
  CROCHET_ALWAYS_INLINE bool whole() const { return size == B; }
  /// Moves to the next block of a part that ends at `end`.
  CROCHET_ALWAYS_INLINE void advance(std::int64_t end) {
    at += B;
    size = end - at < B ? end - at : B;
    phase += B;
    if (phase >= period) phase -= period;
    j += B;
    if (j < columns) return;
    i += columns < B ? j / columns : 1;
    j = columns < B ? j % columns : j - columns;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA

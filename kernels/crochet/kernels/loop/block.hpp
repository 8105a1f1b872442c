// SPDX-License-Identifier: Apache-2.0
// Elementwise loops run over flat positions, whatever rows and columns they have, a block at a time: short rows then
// fill registers as well as long ones. A block's place.
#pragma once
#include <crochet/kernels/call.hpp>

namespace crochet::kernel {

/// The block that a loop is at: `size` positions from `at`, which is column `j` of row `i`. Only the last block has
/// less than B.
template <int B>
struct Block {
  std::int64_t rows, columns;
  std::int64_t at = 0, size = B;
  std::int64_t i = 0, j = 0;
  std::int64_t phase = 0;   ///< as j, but modulo `period`
  std::int64_t period = 0;  ///< a multiple of `columns` and at least B

  Block(std::int64_t rows_, std::int64_t columns_, Range part) : rows(rows_), columns(columns_), at(part.from) {
    size = part.size() < B ? part.size() : B;
    if (columns == 0) return;
    i = at / columns;
    phase = j = at % columns;
    period = columns < B ? (B + columns - 1) / columns * columns : columns;
  }
  CROCHET_ALWAYS_INLINE bool whole() const { return size == B; }
  /// The next block of a part that ends at `end`.
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

}  // namespace crochet::kernel

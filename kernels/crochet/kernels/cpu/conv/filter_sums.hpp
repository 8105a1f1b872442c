// SPDX-License-Identifier: Apache-2.0
// FilterSums: the sums of a filter's gradient in panels, and their way to the epilogue.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/words.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The sums of a filter [rows, filters] in panels of its columns: row q of panel p is at (p * rows + q) * width.
template <class T>
class FilterSums {
 public:
  static constexpr std::int64_t width = panel_width<T>;

  FilterSums(std::int64_t rows, std::int64_t filters) : rows_(rows), filters_(filters) {}

  /// Rows of the filter as a matrix.
  std::int64_t rows() const { return rows_; }
  std::int64_t panels() const { return (filters_ + width - 1) / width; }
  /// The number of elements of the sums.
  std::int64_t size() const { return panels() * width * rows_; }
  /// The room for the sums, in elements: whole cache lines.
  std::int64_t sums_room() const { return whole_lines(size()); }

  /// Passes the rows of the sums in `mine` to the epilogue. `add(sums of a row's panel, its offset)` may complete them
  /// first.
  template <class Epilogue, class Add>
  void hand_over(T* sums, Range mine, const Epilogue& epilogue, Add add) const {
    for (std::int64_t j = 0; j < filters_; j += width) {
      const std::int64_t n = filters_ - j < width ? filters_ - j : width;
      for (std::int64_t q = mine.from; q < mine.to; ++q) {
        const std::int64_t at = j * rows_ + q * width;
        add(sums + at, at);
        epilogue.row(q, j, n, sums + at);
      }
    }
  }

 private:
  std::int64_t rows_, filters_;
};

}  // namespace crochet::kernel::CROCHET_ISA

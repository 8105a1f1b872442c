// SPDX-License-Identifier: Apache-2.0
// Column sums of a matrix that is produced row by row: every worker sums its rows, then adds up its columns of all
// workers' sums. Sums are kept in double.
#pragma once
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::detail {

/// The number of rows summed in registers before the sums are stored.
inline constexpr std::int64_t rows_a_block = 16;

/// The column sums times `scale`, passed to the epilogue as one row. Calls block(first row, count, add) for this
/// worker's rows, at most rows_a_block at a time. block must call add(j, sums of the rows' elements from column j on,
/// Whole or First) for all n columns.
template <class T, class Epilogue, class Block>
CROCHET_ALWAYS_INLINE void column_sums(Worker& worker, std::int64_t rows, std::int64_t n, const Epilogue& epilogue,
                                       Block block, double scale = 1) {
  double* const total = worker.scratch<double>(n);
  for (std::int64_t j = 0; j < n; ++j) total[j] = 0;
  const auto add = [&](std::int64_t j, const simd::vec<T>& sum, auto how) {
    const simd::vec<double> before = simd::load(total + j, how, 0.0);
    simd::store(total + j, before + simd::convert<T, double, true>(sum), how);
  };
  const Range mine = worker.part(rows);
  for (std::int64_t i = mine.from; i < mine.to; i += rows_a_block) {
    block(i, mine.to - i < rows_a_block ? mine.to - i : rows_a_block, add);
  }
  worker.sync();
  constexpr std::int64_t strip = 64;
  const Range columns = worker.part(n, simd::lanes);
  T values[strip];
  for (std::int64_t j = columns.from; j < columns.to; j += strip) {
    const std::int64_t some = columns.to - j < strip ? columns.to - j : strip;
    for (std::int64_t k = 0; k < some; ++k) {
      double all = 0;
      for (int m = 0; m < worker.count(); ++m) all += worker.scratch_of<double>(m)[j + k];
      values[k] = static_cast<T>(all * scale);
    }
    epilogue.row(0, j, some, values);
  }
  worker.sync();  // from here on the scratch memory may be reused
}

}  // namespace crochet::kernel::detail

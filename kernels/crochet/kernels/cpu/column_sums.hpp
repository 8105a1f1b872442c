// SPDX-License-Identifier: Apache-2.0
// Column sums of a matrix that is produced row by row. The rows are divided into parts; every member sums its parts,
// then adds up its columns of all parts' sums, in the order of the parts. Sums are kept in double.
#pragma once
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::detail {

/// The number of rows summed in registers before the sums are stored.
inline constexpr std::int64_t rows_a_block = 16;

/// The parts into which column_sums divides rows that take `work` to read, and this member's parts.
struct SumParts {
  int count;
  Range mine;

  SumParts(const Worker& worker, std::int64_t work) : count(worker.parts_of(work, 1 << 12)), mine(worker.part(count)) {}
  /// The elements of scratch memory for sums of n columns.
  std::int64_t room(std::int64_t n) const { return mine.size() * n; }
};

/// The column sums times `scale`, passed to the epilogue as one row. Calls block(first row, count, add) for the rows of
/// this member's parts, at most rows_a_block at a time. block must call add(j, sums of the rows' elements from column j
/// on, Whole or First) for all n columns. `work`: the number of elements that are read.
template <class T, class Epilogue, class Block>
CROCHET_ALWAYS_INLINE void column_sums(Worker& worker, std::int64_t work, std::int64_t rows, std::int64_t n,
                                       const Epilogue& epilogue, Block block, double scale = 1) {
  const SumParts parts(worker, work);
  double* total = worker.scratch<double>(parts.room(n));
  for (std::int64_t p = parts.mine.from; p < parts.mine.to; ++p, total += n) {
    for (std::int64_t j = 0; j < n; ++j) total[j] = 0;
    const auto add = [&](std::int64_t j, const simd::vec<T>& sum, auto how) {
      const simd::vec<double> before = simd::load(total + j, how, 0.0);
      simd::store(total + j, before + simd::convert<T, double, true>(sum), how);
    };
    const Range some = part_of(rows, p, parts.count);
    for (std::int64_t i = some.from; i < some.to; i += rows_a_block) {
      block(i, some.to - i < rows_a_block ? some.to - i : rows_a_block, add);
    }
  }
  worker.sync();
  constexpr std::int64_t strip = 64;
  const Range columns = worker.part(n, simd::lanes);
  for (std::int64_t j = columns.from; j < columns.to; j += strip) {
    const std::int64_t some = columns.to - j < strip ? columns.to - j : strip;
    double all[strip] = {};
    worker.each_part_of_sum<double>(parts.count, n, [&](const double* sums) {
      for (std::int64_t k = 0; k < some; ++k) all[k] += sums[j + k];
    });
    T values[strip];
    for (std::int64_t k = 0; k < some; ++k) values[k] = static_cast<T>(all[k] * scale);
    epilogue.row(0, j, some, values);
  }
  worker.sync();  // from here on the scratch memory may be reused
}

}  // namespace crochet::kernel::detail

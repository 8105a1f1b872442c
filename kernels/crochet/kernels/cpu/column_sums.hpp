// SPDX-License-Identifier: Apache-2.0
// Column sums of a matrix that is produced row by row. The rows are divided into parts; every member sums its parts,
// then adds up its columns of all parts' sums, in the order of the parts. Sums are kept in double.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

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

/// Sums the columns of each of this member's parts. Calls block(first row, count, add) for its rows, at most
/// rows_a_block at a time. block must call add(j, sums of the rows' elements from column j on, Whole or First) for all
/// n columns.
template <class T, class Block>
CROCHET_ALWAYS_INLINE void sum_parts(Worker& worker, const SumParts& parts, std::int64_t rows, std::int64_t n,
                                     Block block) {
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
}

/// The number of columns that are joined at a time.
inline constexpr std::int64_t joined_strip = 64;

/// Adds up `some` columns of all parts' sums, from column j on, and divides them by `divisor`.
template <class T>
[[gnu::noinline]] void join_parts(const Worker& worker, int parts, std::int64_t n, std::int64_t j, std::int64_t some,
                                  double divisor, T* to) {
  double all[joined_strip] = {};
  worker.each_part_of_sum<double>(parts, n, [&](const double* sums) {
    for (std::int64_t k = 0; k < some; ++k) all[k] += sums[j + k];
  });
  for (std::int64_t k = 0; k < some; ++k) to[k] = static_cast<T>(all[k] / divisor);
}

/// The column sums divided by `divisor`, passed to the epilogue as one row, behind sum_parts(). That and the joining
/// are functions without the epilogue, so kernels with different epilogues share their code.
template <class T, class Epilogue>
CROCHET_ALWAYS_INLINE void pass_sums(Worker& worker, const SumParts& parts, std::int64_t n, const Epilogue& epilogue,
                                     double divisor = 1) {
  worker.sync();
  const Range columns = worker.part(n, simd::lanes);
  for (std::int64_t j = columns.from; j < columns.to; j += joined_strip) {
    const std::int64_t some = columns.to - j < joined_strip ? columns.to - j : joined_strip;
    T values[joined_strip];
    join_parts(worker, parts.count, n, j, some, divisor, values);
    epilogue.row(0, j, some, values);
  }
  worker.sync();  // from here on the scratch memory may be reused
}

}  // namespace crochet::kernel::CROCHET_ISA::detail

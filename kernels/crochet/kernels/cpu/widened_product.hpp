// SPDX-License-Identifier: Apache-2.0
// Products with operands that are stored as bfloat16. The left one is widened to floats before the product; the right
// one, usually the weights, is read as it is stored, if the policy can.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/widen.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {
/// The distance of the end of the given rows from the start of a row-major matrix, or of its transpose.
template <class A>
std::int64_t elements_to(const Matrix<A>& m, std::int64_t depth, Range rows) {
  return rows.size() <= 0 || depth == 0 ? 0 : (rows.to - 1) * m.row + (depth - 1) * m.column + 1;
}
/// The rows as floats, at the same distances in `to`.
inline Matrix<float> widened(const Matrix<bfloat16>& m, std::int64_t depth, Range rows, float* to) {
  const std::int64_t from = m.transposed() ? 0 : rows.from * m.row, end = elements_to(m, depth, rows);
  if (from < end) copy_as(m.data + from, end - from, to + from);
  return {to, m.row, m.column};
}
/// The matrix, or its rows as floats.
template <bool Widens, class A>
auto as_read(const Matrix<A>& m, std::int64_t depth, Range rows, float* room) {
  if constexpr (Widens) return widened(m, depth, rows, room);
  if constexpr (!Widens) return m;
}
}  // namespace detail

/// Backend::multiply for operands of float or bfloat16, of which a is row-major, or its transpose.
template <class Backend, ProductPaths P, class A, class B, class Epilogue>
void multiply_stored(const Matrix<A>& a, const Matrix<B>& b, std::int64_t depth, const Split& mine, Worker& worker,
                     const Epilogue& epilogue) {
  if (mine.rows.size() <= 0 || mine.columns.size() <= 0) return;
  constexpr bool reads = requires { requires Backend::reads_bfloat16; };
  constexpr bool widens_a = !std::is_same_v<A, float>, widens_b = !std::is_same_v<B, float> && !reads;
  const Range all{0, depth};  // the rows of b
  const std::int64_t of_a = widens_a ? detail::elements_to(a, depth, mine.rows) : 0;
  const std::int64_t of_b = widens_b ? detail::elements_to(b, mine.columns.to, all) : 0;
  const std::int64_t of_product = Backend::template scratch<float>(mine.rows.size(), mine.columns.size(), depth);
  float* const room = worker.scratch<float>(of_a + of_b + of_product);
  Backend::template multiply<P>(detail::as_read<widens_a>(a, depth, mine.rows, room),
                                detail::as_read<widens_b>(b, mine.columns.to, all, room + of_a), depth, mine.rows,
                                mine.columns, worker, epilogue, of_a + of_b);
}

}  // namespace crochet::kernel::CROCHET_ISA

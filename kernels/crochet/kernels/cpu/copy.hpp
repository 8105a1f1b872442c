// SPDX-License-Identifier: Apache-2.0
// Common parts of kernels that move elements. They view a tensor as [outer, n, inner] around an axis, do not depend on
// the meaning of the elements, and split rows over the team.
#pragma once
#include <bit>
#include <limits>
#include <type_traits>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// The unsigned integer that represents all types of its size, so that they share code.
template <std::size_t Bytes>
using bits_t = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t, std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

/// The value for an element that does not exist: NaN, the lowest signed integer, the greatest unsigned integer, true.
/// (As jax.numpy.take with mode "fill".)
template <class T>
constexpr bits_t<sizeof(T)> invalid() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<bits_t<sizeof(T)>>(Limits::quiet_NaN());
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return bfloat16(std::numeric_limits<float>::quiet_NaN()).bits();
  } else {
    return static_cast<bits_t<sizeof(T)>>(std::is_signed_v<T> ? Limits::min() : Limits::max());
  }
}

/// A tensor viewed around one of its axes.
struct Around {
  std::int64_t outer = 1, n = 1, inner = 1;

  Around(const Operand& x, std::size_t axis) : n(x[axis]), inner(x.size(axis + 1)) {
    for (std::size_t i = 0; i < axis; ++i) outer *= x[i];
  }
};

/// Calls visit(row, columns) for this worker's part of a matrix: some of the rows or, if there are fewer rows than
/// workers, some columns of every row.
template <class Visit>
void each_of_my_rows(const Worker& w, std::int64_t rows, std::int64_t columns, std::int64_t grain, Visit visit) {
  const bool by_rows = rows >= w.count();
  const Range mine = by_rows ? w.part(rows) : Range{0, rows},
              part = by_rows ? Range{0, columns} : w.part(columns, grain);
  for (std::int64_t i = mine.from; i < mine.to; ++i) visit(i, part);
}

template <class U>
void copy(const U* from, std::int64_t n, U* to) {
  if (n > 0) __builtin_memcpy(to, from, static_cast<std::size_t>(n) * sizeof(U));
}
template <class U>
void fill(U value, std::int64_t n, U* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = value;
}

}  // namespace crochet::kernel::CROCHET_ISA::detail

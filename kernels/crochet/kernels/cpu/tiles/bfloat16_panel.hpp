// SPDX-License-Identifier: Apache-2.0
// The operands of a product, rounded to pairs of bfloat16: rows of the left one, and a panel of the right one.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/amx.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Pair (i, k) is data[i * row + k * column]. One of both distances is 1.
struct Bfloat16Pairs {
  const Bfloat16Pair* data;
  std::int64_t row, column;
};

namespace detail {
/// The left operand's rows from a transposed one, completed to whole tile registers. `lines`: room for 16 lines.
inline Bfloat16Pairs turned_rows(const Matrix<float>& a, std::int64_t depth, Range rows, Bfloat16Pair* room,
                                 Bfloat16Pair* lines) {
  constexpr std::int64_t block = native_lanes<float>;
  const std::int64_t pitch = amx_whole(pairs_in(depth)), n = rows.size(), length = amx_whole(n);
  for (std::int64_t k = 0; k < pitch; k += block) {
    for (std::int64_t i = 0; i < block; ++i) {
      Bfloat16Pair* const to = lines + i * length;
      const std::int64_t left = depth - 2 * (k + i);
      if (left > 0) {
        const float* first = a.at(rows.from, 2 * (k + i));
        round_lines(first, left > 1 ? first + a.column : nullptr, n, to);
      } else {
        __builtin_memset(to, 0, static_cast<std::size_t>(n) * sizeof *to);
      }
    }
    for (std::int64_t i = 0; i < n; i += block) transpose_block(lines + i, length, room + i * pitch + k, pitch);
  }
  return {room, pitch, 1};
}

/// The left operand's rows, rounded. `room`: amx_whole(pairs_in(depth)) for each of amx_whole(rows). `lines`: room for
/// 16 of amx_whole(rows) if compiled for AMX.
[[gnu::noinline]] inline Bfloat16Pairs rounded_rows(const Matrix<float>& a, std::int64_t depth, Range rows,
                                                    Bfloat16Pair* room, Bfloat16Pair* lines) {
  const std::int64_t pairs = pairs_in(depth), pitch = amx_whole(pairs), n = rows.size();
  if (!a.transposed()) {
    for (std::int64_t i = 0; i < n; ++i) {
      Bfloat16Pair* const to = room + i * pitch;
      round_line(a.at(rows.from + i, 0), depth, to);
      __builtin_memset(to + pairs, 0, static_cast<std::size_t>(pitch - pairs) * sizeof *to);
    }
    return {room, pitch, 1};
  }
  if constexpr (compiled_for_amx) return turned_rows(a, depth, rows, room, lines);
  for (std::int64_t k = 0; k < pairs; ++k) {
    const float* first = a.at(rows.from, 2 * k);
    round_lines(first, 2 * k + 1 < depth ? first + a.column : nullptr, n, room + k * n);
  }
  return {room, 1, n};
}

/// Columns [j, j + n) of the right operand, of float or bfloat16, rounded, as a panel that is padded with zeros.
/// `lines`: room for pairs_in(depth) * panel_width<float> more.
template <class B>
[[gnu::noinline]] void rounded_panel(const Matrix<B>& b, std::int64_t depth, std::int64_t j, std::int64_t n,
                                     Bfloat16Pair* panel, Bfloat16Pair* lines) {
  constexpr std::int64_t width = panel_width<float>, block = native_lanes<float>;
  const std::int64_t pairs = pairs_in(depth);
  if (n < width) __builtin_memset(panel, 0, static_cast<std::size_t>(pairs * width) * sizeof *panel);
  if (!b.transposed()) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const B* first = b.at(2 * k, j);
      round_lines(first, 2 * k + 1 < depth ? first + b.row : nullptr, n, panel + k * width);
    }
    return;
  }
  // A column is a stored row: its neighbours are pairs. In panels a stored row is in pieces of a panel's width.
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t k = 0; k < depth; k += width) {
      round_line(b.at(k, j + c), depth - k < width ? depth - k : width, lines + c * pairs + k / 2);
    }
  }
  const std::int64_t whole = pairs / block * block, columns = n / block * block;
  for (std::int64_t k = 0; k < whole; k += block) {
    for (std::int64_t c = 0; c < columns; c += block) {
      transpose_block(lines + c * pairs + k, pairs, panel + k * width + c, width);
    }
  }
  for (std::int64_t c = 0; c < n; ++c) {
    CROCHET_SHORT_LOOP
    for (std::int64_t k = c < columns ? whole : 0; k < pairs; ++k) panel[k * width + c] = lines[c * pairs + k];
  }
}

}  // namespace detail

}  // namespace crochet::kernel::CROCHET_ISA

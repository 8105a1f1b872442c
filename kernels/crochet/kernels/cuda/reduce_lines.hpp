// SPDX-License-Identifier: Apache-2.0
// Reductions over the middle axis of [outer, n, inner] on a device, of values in memory or computed on the way. The
// division into parts depends on the sizes only, so results are the same bits on any number of blocks.
#pragma once
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/kernels/cuda/join.hpp>
#include <crochet/kernels/cuda/room.hpp>
#include <crochet/kernels/running.hpp>

namespace crochet::cuda {

/// How such a reduction is divided.
struct LineParts {
  enum class Form : std::uint8_t {
    rows,       ///< inner = 1, short rows: a warp for each
    long_rows,  ///< inner = 1: a block for each row, or for parts of it
    columns     ///< tiles of columns as wide as a warp; the warps of a block take every eighth element
  };
  Form form;
  int units;         ///< rows of eight, rows, or tiles
  int splits, each;  ///< parts of the axis

  CROCHET_ALWAYS_INLINE static constexpr LineParts of(int outer, int n, int inner) {
    constexpr int warps = 8, enough = 128, short_row = 1024;
    if (inner == 1 && (n <= short_row || outer >= enough * warps)) {
      return {Form::rows, (outer + warps - 1) / warps, 1, n};
    }
    const int units = inner == 1 ? outer : outer * ((inner + warp_size - 1) / warp_size);
    const int grain = inner == 1 ? 2048 : 64;
    int splits = units < 1 ? 1 : enough / units;
    const int most = n / grain;
    splits = splits > most ? most : splits;
    splits = splits < 1 ? 1 : splits;
    return {inner == 1 ? Form::long_rows : Form::columns, units, splits, (n + splits - 1) / splits};
  }
  CROCHET_ALWAYS_INLINE constexpr Room room() const {
    if (splits == 1) return {};
    return {std::int64_t{8} * units * splits * warp_size, units};
  }
};

namespace detail {

// Not inlined: functions of numbers, which many steps call once, and once a unit.

CROCHET_DEVICE_NOINLINE inline LineParts line_parts(int outer, int n, int inner) {
  return LineParts::of(outer, n, inner);
}

/// The elements of a reduction that a thread adds: k = from, from + step, ... < end of line (o, j). None if the line
/// does not exist.
struct LinePart {
  int which, split;  ///< units, and parts of the axis
  int o, j;
  int from, step, end;
  bool leads;  ///< whether this thread has the total of a line
};

/// The part of thread number `thread` of `warps` warps.
CROCHET_DEVICE_NOINLINE inline LinePart line_part(const LineParts& parts, int unit, int outer, int n, int inner,
                                                  int thread, int warps) {
  LinePart part;
  part.which = unit / parts.splits, part.split = unit % parts.splits;
  const int lane = thread % warp_size, warp = thread / warp_size;
  const bool by_rows = parts.form == LineParts::Form::rows, by_columns = parts.form == LineParts::Form::columns;
  const int tiles = by_columns ? (inner + warp_size - 1) / warp_size : 1;
  part.o = by_rows ? part.which * warps + warp : part.which / tiles;
  part.j = by_columns ? part.which % tiles * warp_size + lane : 0;
  part.from = part.split * parts.each + (by_rows ? lane : by_columns ? warp : thread);
  part.step = by_rows ? warp_size : by_columns ? warps : warps * warp_size;
  const bool exists = part.o < outer && part.j < inner;
  part.end = !exists ? 0 : n - part.split * parts.each < parts.each ? n : (part.split + 1) * parts.each;
  part.leads = exists && (by_rows ? lane == 0 : by_columns ? warp == 0 : thread == 0);
  return part;
}

/// Joins the sums of the threads that share a line, then the parts of the axis. Whether this thread has the total of a
/// line, which is in `sum` then.
template <class How, class Block, class Total>
CROCHET_DEVICE_NOINLINE bool join_line(Block& block, const Call& call, const LineParts& parts, const LinePart& part,
                                       Total& sum) {
  Total total = parts.form == LineParts::Form::rows      ? join_warp<How>(block, sum)
                : parts.form == LineParts::Form::columns ? join_lanes_of_warps<How>(block, sum)
                                                         : join_block<How>(block, sum);
  bool ends = part.leads;
  if (parts.splits > 1) {
    const int lane = parts.form == LineParts::Form::columns ? block.thread() % warp_size : 0;
    Total* const partial = call.scratch<Total>() + std::int64_t{1} * part.which * parts.splits * warp_size + lane;
    if (part.leads) partial[part.split * warp_size] = total;
    ends = block.arrive(call.ticket(part.which), parts.splits) && part.leads;
    total = How::template nothing<Total>;
    CROCHET_DEVICE_UNROLL(1)
    for (int s = 0; s < parts.splits && ends; ++s) total = How::join(total, partial[s * warp_size]);
  }
  sum = total;
  return ends;
}

}  // namespace detail

/// Calls put(index of the result in [outer, inner], total) once for each result, in one thread. value(o, k, j) is the
/// element. T: its type. There is one call of `put` in the code, because it is a whole program.
template <class How, class T, class Block, class Value, class Put>
CROCHET_DEVICE_INLINE void reduce_lines(Block& block, const Call& call, int outer, int n, int inner, const Value& value,
                                        const Put& put) {
  using Total = kernel::sum_t<How, T>;
  const LineParts parts = detail::line_parts(outer, n, inner);
  each_unit(block, call.first(), parts.units * parts.splits, [&](int unit) {
    const detail::LinePart part =
        detail::line_part(parts, unit, outer, n, inner, block.thread(), Block::threads / warp_size);
    kernel::Running<How, T, 1> sum;
    for (int k = part.from; k < part.end; k += part.step) sum.add(value(part.o, k, part.j));
    Total total = sum.take();
    if (detail::join_line<How>(block, call, parts, part, total)) put(part.o * inner + part.j, total);
  });
}

}  // namespace crochet::cuda

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

/// Calls put(index of the result in [outer, inner], total) once for each result, in one thread. value(o, k, j) is the
/// element. T: its type.
template <class How, class T, class Block, class Value, class Put>
CROCHET_DEVICE_INLINE void reduce_lines(Block& block, const Call& call, int outer, int n, int inner, const Value& value,
                                        const Put& put) {
  using Total = kernel::sum_t<How, T>;
  const LineParts parts = LineParts::of(outer, n, inner);
  const int lane = block.thread() % warp_size, warp = block.thread() / warp_size;
  if (parts.form == LineParts::Form::rows) {
    each_warp(block, call.first(), outer, [&](int o) {
      kernel::Running<How, T, 1> sum;
      for (int k = lane; k < n; k += warp_size) sum.add(value(o, k, 0));
      const Total total = join_warp<How>(block, sum.take());
      if (lane == 0) put(o, total);
    });
    return;
  }
  constexpr int warps = Block::threads / warp_size;
  const bool by_columns = parts.form == LineParts::Form::columns;
  const int tiles = by_columns ? (inner + warp_size - 1) / warp_size : 1;
  each_unit(block, call.first(), parts.units * parts.splits, [&](int unit) {
    const int which = unit / parts.splits, split = unit % parts.splits;
    const int o = which / tiles, j = by_columns ? which % tiles * warp_size + lane : 0;
    const int from = split * parts.each, end = n - from < parts.each ? n : from + parts.each;
    kernel::Running<How, T, 1> sum;
    const int step = by_columns ? warps : Block::threads;
    for (int k = from + (by_columns ? warp : block.thread()); k < end && j < inner; k += step) sum.add(value(o, k, j));
    Total total = by_columns ? join_lanes_of_warps<How>(block, sum.take()) : join_block<How>(block, sum.take());
    const bool mine = by_columns ? warp == 0 && j < inner : block.thread() == 0;
    if (parts.splits == 1) {
      if (mine) put(o * inner + j, total);
      return;
    }
    Total* const partial = call.scratch<Total>() + std::int64_t{1} * which * parts.splits * warp_size;
    if (mine) partial[split * warp_size + (by_columns ? lane : 0)] = total;
    if (!block.arrive(call.ticket(which), parts.splits) || !mine) return;
    total = How::template nothing<Total>;
    CROCHET_DEVICE_UNROLL(1)
    for (int s = 0; s < parts.splits; ++s) total = How::join(total, partial[s * warp_size + (by_columns ? lane : 0)]);
    put(o * inner + j, total);
  });
}

}  // namespace crochet::cuda

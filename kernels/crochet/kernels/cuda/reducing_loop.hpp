// SPDX-License-Identifier: Apache-2.0
// Elementwise steps with reductions on a device. The elements are divided into parts whose number depends on the sizes
// only. Each part leaves partial results in the scratch memory; the block that finishes last joins them, in the order
// of the parts. So results are the same bits on any number of blocks.
#pragma once
#include <crochet/kernels/cuda/join.hpp>
#include <crochet/kernels/cuda/loop.hpp>
#include <crochet/kernels/cuda/loop_parts.hpp>
#include <crochet/kernels/cuda/loop_sinks.hpp>

namespace crochet::cuda {

namespace detail {

template <class P, class R>
class ReducingLoop;
template <class P, std::size_t... A, class... R>
class ReducingLoop<P, kernel::RefSlots<std::index_sequence<A...>, R...>> {
  using Refs = kernel::RefSlots<std::index_sequence<A...>, R...>;
  struct Sinks : SinkSlot<A, typename SinkFor<P, A, R>::type>... {
    template <int K, class V>
    CROCHET_DEVICE_INLINE void add(const V (&v)[1]) {
      sink_of<static_cast<std::size_t>(K)>(*this).add(v[0]);
    }
  };
  template <std::size_t K>
  using sink_t = std::remove_reference_t<decltype(sink_of<K>(std::declval<Sinks&>()))>;

  static constexpr bool has_rows = (SinkFor<P, A, R>::type::by_rows || ...);
  static constexpr bool has_columns = (SinkFor<P, A, R>::type::by_columns || ...);
  static constexpr bool has_totals = (SinkFor<P, A, R>::type::is_total || ...);
  static constexpr LoopForm form = has_rows                        ? LoopForm::rows
                                   : !has_columns && is_flat<Refs> ? LoopForm::flat
                                                                   : LoopForm::tiles;

 public:
  template <class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call) {
    const Refs refs = RefsOf<Refs>::make(call);
    const LoopParts parts = LoopParts::of(form, call.step.rows, call.step.columns);
    each_unit(block, call.first(), parts.parts * parts.tiles, [&](int unit) {
      if constexpr (form == LoopForm::flat) flat_of(block, call, refs, parts, unit);
      if constexpr (form == LoopForm::rows) rows_of(block, call, refs, parts, unit);
      if constexpr (form == LoopForm::tiles) tile_of(block, call, refs, parts, unit / parts.tiles, unit % parts.tiles);
    });
    constexpr bool join_all = has_totals || (has_columns && form == LoopForm::rows);
    if constexpr (join_all) {
      const int units = parts.parts * parts.tiles, busy = units < block.blocks() ? units : block.blocks();
      if (place_of(block, call.first()) < busy && block.arrive(call.ticket(), busy)) {
        (join<A>(block, call, refs, parts), ...);
      }
    }
  }

 private:
  static constexpr int warps = LoopParts::warps;

  /// The partial results of access K.
  template <std::size_t K>
  CROCHET_DEVICE_INLINE static auto* partial(const Call& call, const LoopParts& parts) {
    std::int64_t offset = 0;
    ((offset += A < K && (SinkFor<P, A, R>::type::is_total || SinkFor<P, A, R>::type::by_columns)
                    ? parts.bytes(SinkFor<P, A, R>::type::by_columns, call.step.columns)
                    : 0),
     ...);
    return reinterpret_cast<typename sink_t<K>::Total*>(call.template scratch<unsigned char>() + offset);
  }

  /// A part of all elements.
  template <class Block>
  CROCHET_DEVICE_INLINE static void flat_of(Block& block, const Call& call, const Refs& refs, const LoopParts& parts,
                                            int part) {
    const int n = call.step.rows * call.step.columns, from = part * parts.each;
    const int end = n - from < parts.each ? n : from + parts.each;
    Sinks sinks;
    constexpr const char* no_root = nullptr;
    for (int k = from + block.thread(); k < end; k += Block::threads) {
      kernel::evaluate<1, 1>(P{}, refs, 0, k, no_root, sinks);
    }
    (leave_total<A>(block, call, sinks, parts, part * warps + block.thread() / warp_size), ...);
  }

  /// A tile of a part: thread (warp, lane) has column `lane`, and every eighth row.
  template <class Block>
  CROCHET_DEVICE_INLINE static void tile_of(Block& block, const Call& call, const Refs& refs, const LoopParts& parts,
                                            int part, int tile) {
    const int lane = block.thread() % warp_size, warp = block.thread() / warp_size;
    const int column = tile * warp_size + lane;
    const int last = (part + 1) * parts.each, end = last < call.step.rows ? last : call.step.rows;
    Sinks sinks;
    constexpr const char* no_root = nullptr;
    if (column < call.step.columns) {
      for (int i = part * parts.each + warp; i < end; i += warps) {
        kernel::evaluate<1, 1>(P{}, refs, i, column, no_root, sinks);
      }
    }
    (leave_total<A>(block, call, sinks, parts, (part * parts.tiles + tile) * warps + warp), ...);
    (leave_columns<A>(block, call, sinks, parts, part, column), ...);
    if constexpr (has_columns) {
      if (block.arrive(call.ticket(1 + tile), parts.parts)) (join_columns<A>(block, call, refs, parts, column), ...);
    }
  }
  /// Sums of a tile's columns: joined over the warps, then stored.
  template <std::size_t K, class Block>
  CROCHET_DEVICE_INLINE static void leave_columns(Block& block, const Call& call, Sinks& sinks, const LoopParts& parts,
                                                  int part, int column) {
    using S = sink_t<K>;
    if constexpr (S::by_columns) {
      const auto sum = join_lanes_of_warps<typename S::How>(block, sink_of<K>(sinks).take());
      if (block.thread() < warp_size && column < call.step.columns) {
        partial<K>(call, parts)[LoopParts::place(part, column, call.step.columns)] = sum;
      }
    }
  }
  /// The last block of a tile joins the parts: a warp takes every eighth.
  template <std::size_t K, class Block>
  CROCHET_DEVICE_INLINE static void join_columns(Block& block, const Call& call, const Refs& refs,
                                                 const LoopParts& parts, int column) {
    using S = sink_t<K>;
    if constexpr (S::by_columns) {
      const int columns = call.step.columns;
      auto sum = S::nothing();
      CROCHET_DEVICE_UNROLL(1)
      for (int p = block.thread() / warp_size; p < parts.parts && column < columns; p += warps) {
        sum = S::How::join(sum, partial<K>(call, parts)[LoopParts::place(p, column, columns)]);
      }
      sum = join_lanes_of_warps<typename S::How>(block, sum);
      if (block.thread() < warp_size && column < columns) {
        S::finish(kernel::ref<K>(refs).data + column, sum, call.step.rows);
      }
    }
  }

  /// Whole rows of a part: a warp takes every eighth row. Sums of columns are kept in the scratch memory.
  template <class Block>
  CROCHET_DEVICE_INLINE static void rows_of(Block& block, const Call& call, const Refs& refs, const LoopParts& parts,
                                            int part) {
    const int lane = block.thread() % warp_size, warp = block.thread() / warp_size;
    const int columns = call.step.columns, row = part * warps + warp;
    const int last = (part + 1) * parts.each, end = last < call.step.rows ? last : call.step.rows;
    (clear<A>(call, parts, row, lane), ...);
    Sinks all;  // for totals of the matrix
    for (int i = part * parts.each + warp; i < end; i += warps) {
      Sinks sinks;
      for (int j = lane; j < columns; j += warp_size) {
        OneElement at{sinks, all, call, parts, row, j};
        constexpr const char* no_root = nullptr;
        kernel::evaluate<1, 1>(P{}, refs, i, j, no_root, at);
      }
      (end_row<A>(block, refs, sinks, i, columns), ...);
    }
    (leave_total<A>(block, call, all, parts, row), ...);
  }
  struct OneElement {
    Sinks &row, &all;
    const Call& call;
    const LoopParts& parts;
    int at, j;
    template <int K, class V>
    CROCHET_DEVICE_INLINE void add(const V (&v)[1]) {
      constexpr auto k = static_cast<std::size_t>(K);
      using S = sink_t<k>;
      if constexpr (S::by_rows) {
        sink_of<k>(row).add(v[0]);
      } else if constexpr (S::by_columns) {
        auto& to = partial<k>(call, parts)[LoopParts::place(at, j, call.step.columns)];
        to = S::How::join(to, static_cast<typename S::Total>(v[0]));
      } else {
        sink_of<k>(all).add(v[0]);
      }
    }
  };
  template <std::size_t K>
  CROCHET_DEVICE_INLINE static void clear(const Call& call, const LoopParts& parts, int row, int lane) {
    using S = sink_t<K>;
    if constexpr (S::by_columns) {
      const int columns = call.step.columns;
      for (int j = lane; j < columns; j += warp_size) {
        partial<K>(call, parts)[LoopParts::place(row, j, columns)] = S::nothing();
      }
    }
  }
  template <std::size_t K, class Block>
  CROCHET_DEVICE_INLINE static void end_row(Block& block, const Refs& refs, Sinks& sinks, int i, int columns) {
    using S = sink_t<K>;
    if constexpr (S::by_rows) {
      const auto total = join_warp<typename S::How>(block, sink_of<K>(sinks).take());
      if (block.thread() % warp_size == 0) S::finish(kernel::ref<K>(refs).data + i, total, columns);
    }
  }
  template <std::size_t K, class Block>
  CROCHET_DEVICE_INLINE static void leave_total(Block& block, const Call& call, Sinks& all, const LoopParts& parts,
                                                int at) {
    using S = sink_t<K>;
    if constexpr (S::is_total) {
      const auto total = join_warp<typename S::How>(block, sink_of<K>(all).take());
      if (block.thread() % warp_size == 0) partial<K>(call, parts)[at] = total;
    }
  }

  /// The last block joins what the others left.
  template <std::size_t K, class Block>
  CROCHET_DEVICE_INLINE static void join(Block& block, const Call& call, const Refs& refs, const LoopParts& parts) {
    using S = sink_t<K>;
    const int rows = call.step.rows, columns = call.step.columns;
    if constexpr (S::by_columns && form == LoopForm::rows) {
      CROCHET_DEVICE_UNROLL(1)
      for (int j = block.thread(); j < columns; j += Block::threads) {
        auto sum = S::nothing();
        CROCHET_DEVICE_UNROLL(1)
        for (int r = 0; r < parts.parts * warps; ++r) {
          sum = S::How::join(sum, partial<K>(call, parts)[LoopParts::place(r, j, columns)]);
        }
        S::finish(kernel::ref<K>(refs).data + j, sum, rows);
      }
    } else if constexpr (S::is_total) {
      const auto total = join_all<typename S::How>(block, partial<K>(call, parts), parts.parts * parts.tiles * warps);
      if (block.thread() == 0) S::finish(kernel::ref<K>(refs).data, total, rows * columns);
    }
  }
};

}  // namespace detail

/// Runs an elementwise step with reductions.
template <class P, class R, class Block>
CROCHET_DEVICE_INLINE void reducing_loop(Block& block, const Call& call) {
  detail::ReducingLoop<P, R>::run(block, call);
}

}  // namespace crochet::cuda

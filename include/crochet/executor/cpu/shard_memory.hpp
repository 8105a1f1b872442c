// SPDX-License-Identifier: Apache-2.0
// ShardMemory: the memory of the runs of a rank that computes its rows in several shards.
#pragma once
#include <cstddef>
#include <cstring>
#include <deque>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/run_memory.hpp>
#include <crochet/executor/cpu/shard_steps.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Each shard has its own memory for values; variables are shared. T: the tables of the graph.
template <class T>
class ShardMemory {
 public:
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = frames_.capacity() + saved_.capacity() + rows_.capacity();
    for (const RunMemory<T>& memory : of_shards_) all += memory.bytes();
    return all;
  }

  /// Memory for a run of plan P whose feeds are bound to `whole`, before the exchange begins. Throws
  /// ResourceExhaustedError.
  template <class P, class Backend, class Frame>
  Shards<Frame> place(const Frame& whole, kernel::Exchange& exchange, int members) {
    using E = ExchangesOf<T, P>;
    static_assert(E::row_symbol() >= 0 || !has_dynamic_feeds<P>,
                  "crochet: fixed shards divide the rows of the batch; give every placeholder with rows the same "
                  "dynamic dimension as its first: {g.dynamic(\"batch\"), ...}");
    static_assert(std::is_trivially_destructible_v<Frame>);
    const auto shards = static_cast<std::size_t>(exchange.shards());
    if (of_shards_.size() < shards) of_shards_.resize(shards), places_.resize(shards);
    frames_.reserve(shards * sizeof(Frame), "the shards of a run");
    saved_.reserve(ShardSteps<T, P, Backend>::saved_bytes, "the variables that a step writes");
    auto* const frames = reinterpret_cast<Frame*>(frames_.data());
    for (std::size_t j = 0; j < shards; ++j) {
      Frame* const f = ::new (frames + j) Frame;
      f->variables = whole.variables, f->placeholders = whole.placeholders, f->dims = whole.dims;
      // A shard of the batch has at most one row more than the mean of this rank's, rounded up.
      set_rows<P>(*f, E::rows(whole.dims) / exchange.shards() + 2);
      of_shards_[j].template place<P, Backend>(*f, members);
    }
    rows_.reserve(fetched_bytes<P>(whole.dims), "the fetched rows of a run");
    return {{frames, shards}, &exchange, saved_.data()};
  }

  /// Gives each shard its rows of the feeds, after the exchange has begun. F: the names of the feeds.
  template <class P, class... F, class Frame>
  void divide(const Shards<Frame>& shards) {
    for (std::size_t j = 0; j < shards.frames.size(); ++j) {
      Frame& f = shards.frames[j];
      const int shard = static_cast<int>(j);
      const std::int64_t row = shards.exchange->row_before_shard(shard);
      set_rows<P>(f, shards.exchange->row_before_shard(shard + 1) - row);
      places_[j].set_first_row(row);
      f.exchange = &places_[j];
      (skip_rows<P, F>(f, row - shards.exchange->first_row()), ...);
    }
  }

  /// The address of value V of plan P for fetches. The rows of all shards are joined.
  template <class P, std::int32_t V, class Frame>
  const void* fetched(const Frame& whole, const Shards<Frame>& shards, std::size_t& used) {
    using M = StepMemory<T, P>;
    if constexpr (P::plan.values[V].space == AddressSpace::placeholder) {
      return M::template address<V>(whole);
    } else if constexpr (!is_joined<P>(P::plan.values[V])) {
      return M::template address<V>(shards.frames[0]);
    } else {
      static constexpr Value v = P::plan.values[V];
      std::byte* const all = rows_.data() + used;
      for (const Frame& f : shards.frames) {
        const auto bytes = static_cast<std::size_t>(v.shape.size().at(f.dims)) * size_of(v.dtype);
        std::memcpy(rows_.data() + used, M::template address<V>(f), bytes);
        used += bytes;
      }
      used = (used + kernel::AlignedBytes::alignment - 1) / kernel::AlignedBytes::alignment *
             kernel::AlignedBytes::alignment;
      return all;
    }
  }

 private:
  template <class P>
  static constexpr bool has_dynamic_feeds = [] {
    for (std::size_t i = 0; i < P::selected.nodes.count; ++i) {
      const Node& n = P::selected.nodes.data()[i];
      if (n.is(op::placeholder) && !n.shape.size().is_static()) return true;
    }
    return false;
  }();
  template <class P>
  static constexpr bool begins_with_rows(const Shape& shape) {
    constexpr int symbol = ExchangesOf<T, P>::row_symbol();
    return symbol >= 0 && shape.rank > 0 && shape[0].power(static_cast<std::size_t>(symbol < 0 ? 0 : symbol)) == 1;
  }
  template <class P>
  static constexpr bool is_joined(const Value& v) {
    return v.space == AddressSpace::arena && begins_with_rows<P>(v.shape);
  }
  template <class P>
  static std::size_t fetched_bytes(const Dims& dims) {
    std::size_t all = 0;
    for (const int value : P::plan.fetched) {
      const Value& v = P::plan.values[static_cast<std::size_t>(value)];
      if (is_joined<P>(v)) {
        all += static_cast<std::size_t>(v.shape.size().at(dims)) * size_of(v.dtype) + kernel::AlignedBytes::alignment;
      }
    }
    return all;
  }

  template <class P, class Frame>
  static void set_rows(Frame& frame, std::int64_t rows) {
    constexpr int symbol = ExchangesOf<T, P>::row_symbol();
    if constexpr (symbol >= 0) frame.dims[static_cast<std::size_t>(symbol)] = rows;
  }
  template <class P, class Name, class Frame>
  static void skip_rows(Frame& frame, std::int64_t rows) {
    constexpr auto node = static_cast<std::size_t>(T::template node_id<Name>);
    static constexpr Shape shape = T::graph.nodes[node].shape;
    if constexpr (begins_with_rows<P>(shape)) {
      std::int64_t bytes = static_cast<std::int64_t>(size_of(T::graph.nodes[node].dtype)) * shape[0].factor;
      for (std::size_t i = 1; i < shape.rank; ++i) bytes *= shape[i].at(frame.dims);
      const void*& feed = frame.placeholders[node];
      feed = static_cast<const std::byte*>(feed) + rows * bytes;
    }
  }

  std::vector<RunMemory<T>> of_shards_;
  std::deque<kernel::ShardPlace> places_;  // not movable
  kernel::AlignedBytes frames_, saved_, rows_;
};

}  // namespace crochet::cpu::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// The memory of a step's values, and whether a step runs on the whole batch or on a few of its items.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/core/shape.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/kernels/worker.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// What the steps of a run on one of several ranks have besides memory; nothing otherwise.
template <bool DividesBatch>
struct FrameOfRank {};
template <>
struct FrameOfRank<true> {
  kernel::Exchange* exchange;
};

/// The memory of one run.
template <std::size_t Slots, std::size_t Nodes, std::size_t ReductionBuffers, bool DividesBatch = false>
struct Frame : FrameOfRank<DividesBatch> {
  static constexpr bool divides_batch = DividesBatch;
  std::byte* variables;
  std::array<std::byte*, Slots> slots;
  std::array<const void*, Nodes> placeholders;  ///< by node of the model's graph
  Dims dims;
  std::byte* items = nullptr;                         ///< memory for the items of all members
  std::array<std::byte*, ReductionBuffers> totals{};  ///< by step that reduces: the parts' results
  mutable std::array<std::atomic<int>, ReductionBuffers> arrived{};
};

/// The whole batch. `items`: memory for values of a region, `capacity` items of each.
template <class F>
struct Whole {
  static constexpr bool sliced = false;
  const F& all;
  const Dims& dims;
  std::byte* items;
  std::int64_t capacity;
};

/// Items `range` of the batch. The memory for a region's own values starts with the first of them.
template <class F>
struct Slice {
  static constexpr bool sliced = true;
  const F& all;
  const Dims& dims;
  std::byte* items;
  std::int64_t capacity;
  kernel::Range range;
  int part, parts;   ///< the part of the items, and the number of parts
  bool first, last;  ///< whether it is the part's first or last slice
};

}  // namespace crochet::cpu::CROCHET_ISA

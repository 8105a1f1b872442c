// SPDX-License-Identifier: Apache-2.0
// Where a step finds its values: the memory of the run, and whether the step is made for the whole batch or for a few
// of its items.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>

#include <crochet/graph/core/shape.hpp>
#include <crochet/kernels/team.hpp>

namespace crochet::cpu {

/// The memory of one run.
template <std::size_t Slots, std::size_t Nodes, std::size_t ReductionBuffers>
struct Frame {
  std::byte* variables;
  std::array<std::byte*, Slots> slots;
  std::array<const void*, Nodes> placeholders;  ///< by node of the model's graph
  Dims dims;
  std::byte* items = nullptr;                         ///< room for the items of all members
  std::array<std::byte*, ReductionBuffers> totals{};  ///< by step that reduces: what the members have of it
  mutable std::array<std::atomic<int>, ReductionBuffers> arrived{};
};

/// The whole batch. `items`: room for values of a region, `capacity` items of each.
template <class F>
struct Whole {
  static constexpr bool sliced = false;
  const F& all;
  const Dims& dims;
  std::byte* items;
  std::int64_t capacity;
};

/// Items `range` of the batch; a region's own values begin with the first of them.
template <class F>
struct Slice {
  static constexpr bool sliced = true;
  const F& all;
  const Dims& dims;
  std::byte* items;
  std::int64_t capacity;
  kernel::Range range;
  int member, members;  ///< of the team: which one this is, of how many
  bool first, last;     ///< of the member's slices
};

}  // namespace crochet::cpu

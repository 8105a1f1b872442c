// SPDX-License-Identifier: Apache-2.0
// ItemRegions: the items of the batch are divided into parts, whose number does not depend on the members that run.
// Every member takes the items of its parts through all steps of a region, a few at a time. If there are fewer items
// than parts, the members share each step instead.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/where.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/kernels/worker.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The regions of the plan of a demand. P: that plan (Planned).
template <class P>
class ItemRegions {
  static constexpr const auto& plan = P::plan;

  /// The number of items per slice. The memory accessed for them, and weights, should fit a core's own cache.
  static constexpr std::int64_t items_at_once(const ItemSteps& r) {
    constexpr std::int64_t cache = std::int64_t{1} << 18;
    const std::int64_t items = cache / (r.bytes < 1 ? 1 : r.bytes);
    return items < 1 ? 1 : items;
  }
  /// The bytes that a member needs for its items.
  static constexpr std::int64_t member_bytes = [] {
    std::int64_t most = 0;
    for (std::size_t r = 0; r < plan.region_count; ++r) {
      const std::int64_t bytes = plan.regions[r].room * items_at_once(plan.regions[r]);
      most = bytes > most ? bytes : most;
    }
    return most;
  }();

 public:
  static constexpr int no_region = -1, inside_one = -2;
  /// The region that begins with a step.
  static constexpr int region_at(std::size_t step) {
    const std::int32_t r = plan.steps[step].region;
    if (r < 0) return no_region;
    return plan.regions.data()[r].first == static_cast<std::int32_t>(step) ? r : inside_one;
  }

  /// The bytes of workspace for the values of regions, for a team of `members`.
  static constexpr std::size_t workspace_bytes(std::int64_t members) {
    return static_cast<std::size_t>(member_bytes * members);
  }

  /// If there are fewer items than parts, calls take(true_type, all items, worker); otherwise calls take(false_type,
  /// items, worker) for each slice of this member's parts.
  template <std::size_t R, class Frame, class Take>
  CROCHET_HOST_ALWAYS_INLINE static void each_slice(const Frame& frame, kernel::Worker& worker, const Take& take) {
    static constexpr ItemSteps r = plan.regions[R];
    constexpr std::int64_t some = items_at_once(r);
    static constexpr Extent extent = r.items;
    const std::int64_t items = extent.at(frame.dims);
    constexpr std::int64_t worth_a_part = 1 << 14;  // bytes
    const int parts = worker.parts_of(items * (r.bytes < 1 ? 1 : r.bytes), worth_a_part);
    if (items < parts) {
      take(std::true_type{}, Whole<Frame>{frame, frame.dims, frame.items, items}, worker);
      return;
    }
    kernel::Worker alone = worker.alone();
    std::byte* const room = frame.items + worker.index() * r.room * some;
    const kernel::Range my_parts = worker.part(parts);
    for (auto p = static_cast<int>(my_parts.from); p < my_parts.to; ++p) {
      const kernel::Range part = kernel::part_of(items, p, parts);
      for (std::int64_t i = part.from; i < part.to; i += some) {
        const kernel::Range range{i, i + some < part.to ? i + some : part.to};
        const bool first = i == part.from, last = range.to == part.to;
        const Slice<Frame> slice{frame, frame.dims, room, some, range, p, parts, first, last};
        take(std::false_type{}, slice, alone);
      }
    }
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// The arena: the offset of each slot in the workspace. Sizes may depend on dynamic dimensions, so it is computed once
// they are known: at compile time, or before the first step with a new size.
#pragma once
#include <initializer_list>
#include <span>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/plan.hpp>

namespace crochet {

/// Slots are aligned to cache lines, and their sizes are rounded up to whole ones.
inline constexpr std::int64_t arena_alignment = 64;
constexpr std::int64_t arena_bytes(const ArenaSlot& slot, const Dims& dims) {
  return (slot.bytes.at(dims) + arena_alignment - 1) / arena_alignment * arena_alignment;
}

/// A slot in the arena.
struct PlacedSlot {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  ///< phases, as in ArenaSlot
};

namespace detail {
constexpr bool overlap(const PlacedSlot& a, const PlacedSlot& b) { return a.first <= b.last && b.first <= a.last; }

/// Insertion step of a sort: moves `order[from]` to its position among the elements before it.
template <class Before>
constexpr void sort_in(int* order, std::size_t from, Before before) {
  const int moved = order[from];
  for (; from > 0 && before(moved, order[from - 1]); --from) order[from] = order[from - 1];
  order[from] = moved;
}

/// Best fit among `by_offset[0, placed)`: the smallest sufficient gap between slots in use at the same time, or the
/// position after them.
constexpr std::int64_t best_offset(const PlacedSlot* slots, const int* by_offset, std::size_t placed,
                                   const PlacedSlot& slot) {
  std::int64_t end = 0, best = -1, best_gap = 0;
  for (std::size_t k = 0; k < placed; ++k) {
    const PlacedSlot& other = slots[by_offset[k]];
    if (!overlap(slot, other)) continue;
    const std::int64_t gap = other.offset - end;
    if (gap >= slot.bytes && (best < 0 || gap < best_gap)) best = end, best_gap = gap;
    if (other.offset + other.bytes > end) end = other.offset + other.bytes;
  }
  return best < 0 ? end : best;
}
/// The order in which slots are placed: the largest first, those in use longest first, or by first use.
enum class PlacingOrder { size, span, time };
constexpr bool comes_before(const PlacedSlot& a, const PlacedSlot& b, PlacingOrder by) {
  if (by == PlacingOrder::time && a.first != b.first) return a.first < b.first;
  const std::int64_t span_a = a.bytes * (a.last - a.first + 1), span_b = b.bytes * (b.last - b.first + 1);
  if (by == PlacingOrder::span && span_a != span_b) return span_a > span_b;
  return a.bytes > b.bytes;
}

constexpr std::int64_t place_in_order(std::span<PlacedSlot> slots, std::span<int> order, std::span<int> by_offset,
                                      PlacingOrder by) {
  PlacedSlot* const s = slots.data();
  int *const next = order.data(), *const placed = by_offset.data();
  for (std::size_t k = 0; k < slots.size(); ++k) {
    next[k] = static_cast<int>(k);
    sort_in(next, k, [=](int a, int b) { return comes_before(s[a], s[b], by); });
  }
  std::int64_t peak = 0;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    PlacedSlot& slot = s[next[k]];
    slot.offset = best_offset(s, placed, k, slot);
    placed[k] = next[k];
    sort_in(placed, k, [s](int a, int b) { return s[a].offset < s[b].offset; });
    if (slot.offset + slot.bytes > peak) peak = slot.offset + slot.bytes;
  }
  return peak;
}
}  // namespace detail

/// Gives every slot an offset such that slots in use in the same phase do not overlap; returns the total bytes. Places
/// one slot after the other by best fit, the largest first (Pisarchyk and Lee, arXiv:2001.03288, "greedy by size"), and
/// takes one of two other orders if its total is smaller. `order` and `by_offset`: scratch with one element per slot.
/// Quadratic in the number of slots.
constexpr std::int64_t place_in_arena(std::span<PlacedSlot> slots, std::span<int> order, std::span<int> by_offset) {
  using detail::PlacingOrder;
  PlacingOrder best = PlacingOrder::size;
  std::int64_t least = -1;
  for (PlacingOrder by : {PlacingOrder::time, PlacingOrder::span, PlacingOrder::size}) {
    const std::int64_t peak = detail::place_in_order(slots, order, by_offset, by);
    if (least < 0 || peak <= least) least = peak, best = by;
  }
  return best == PlacingOrder::size ? least : detail::place_in_order(slots, order, by_offset, best);
}

/// An arena of N slots.
template <std::size_t N>
struct Arena {
  std::array<PlacedSlot, N> slots{};
  std::int64_t bytes = 0;
};

/// The arena of a frozen plan, for these dimensions.
template <std::size_t N, class Slots>
constexpr Arena<N> arena_of(const Slots& slots, const Dims& dims) {
  Arena<N> arena;
  for (std::size_t k = 0; k < N; ++k) arena.slots[k] = {0, arena_bytes(slots[k], dims), slots[k].first, slots[k].last};
  std::array<int, N> order{}, by_offset{};
  arena.bytes = place_in_arena(arena.slots, order, by_offset);
  return arena;
}

/// The slots of a plan, placed for these dimensions.
template <class P>
constexpr ConstexprVector<PlacedSlot> placed_slots(const P& plan, const Dims& dims = {}) {
  ConstexprVector<PlacedSlot> slots;
  for (std::size_t k = 0; k < slot_count(plan); ++k) {
    slots.push_back({0, arena_bytes(plan.slots[k], dims), plan.slots[k].first, plan.slots[k].last});
  }
  ConstexprVector<int> order(slots.size()), by_offset(slots.size());
  place_in_arena({slots.data(), slots.size()}, {order.data(), order.size()}, {by_offset.data(), by_offset.size()});
  return slots;
}

/// The bytes of workspace of a plan for these dimensions, without the values of item regions.
template <class P>
constexpr std::int64_t workspace_bytes(const P& plan, const Dims& dims = {}) {
  std::int64_t bytes = 0;
  for (const PlacedSlot& s : placed_slots(plan, dims)) bytes = bytes > s.offset + s.bytes ? bytes : s.offset + s.bytes;
  return bytes;
}

/// The lower bound of any placement: the maximum number of bytes in use in one phase.
template <class P>
constexpr std::int64_t liveness_bytes(const P& plan, const Dims& dims = {}) {
  std::int64_t most = 0;
  std::int32_t phases = 0;
  for (std::size_t k = 0; k < slot_count(plan); ++k) phases = phases > plan.slots[k].last ? phases : plan.slots[k].last;
  for (std::int32_t phase = 0; phase <= phases; ++phase) {
    std::int64_t live = 0;
    for (std::size_t k = 0; k < slot_count(plan); ++k) {
      const ArenaSlot& s = plan.slots[k];
      if (s.first <= phase && phase <= s.last) live += arena_bytes(s, dims);
    }
    most = most > live ? most : live;
  }
  return most;
}

}  // namespace crochet

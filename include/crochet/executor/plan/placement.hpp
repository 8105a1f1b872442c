// SPDX-License-Identifier: Apache-2.0
// The offsets of a plan's slots for the sizes of the run. They are recomputed only when the sizes change.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/arena.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The slots of one plan, placed for the dimensions of its last run.
struct Placement {
  const ArenaSlot* of = nullptr;
  Dims dims{};
  std::int64_t bytes = 0;
  ConstexprVector<PlacedSlot> slots;
  ConstexprVector<int> order, by_offset;

  CROCHET_COLD void place(std::size_t count, const Dims& now) {
    slots.resize(count);
    order.resize(count);
    by_offset.resize(count);
    dims = now;
    for (std::size_t k = 0; k < count; ++k) slots[k] = {0, arena_bytes(of[k], now), of[k].first, of[k].last};
    bytes = place_in_arena({slots.data(), count}, {order.data(), count}, {by_offset.data(), count});
  }
};

/// The placements of all plans that have run on a workspace.
class Placements {
 public:
  /// The address of its slots' table identifies a plan.
  const Placement& find(const ArenaSlot* slots, std::size_t count, const Dims& dims) {
    for (Placement& p : known_) {
      if (p.of != slots) continue;
      if (p.dims != dims) p.place(count, dims);
      return p;
    }
    return add(slots, count, dims);
  }

 private:
  CROCHET_COLD const Placement& add(const ArenaSlot* slots, std::size_t count, const Dims& dims) {
    known_.emplace_back().of = slots;
    known_.back().place(count, dims);
    return known_.back();
  }

  std::vector<Placement> known_;
};

/// The slots of plan P as a constant table of the program.
template <class P>
inline constexpr auto slots_of = [] {
  std::array<ArenaSlot, P::plan.slot_count> used{};
  for (std::size_t s = 0; s < used.size(); ++s) used[s] = P::plan.slots[s];
  return used;
}();

/// Whether the slots can be placed at compile time: no size is dynamic, and there are not too many slots.
template <class P>
inline constexpr bool placed_by_compiler = [] {
  constexpr std::size_t many = 48;
  for (const ArenaSlot& s : slots_of<P>) {
    if (!s.bytes.is_static()) return false;
  }
  return slots_of<P>.size() <= many;
}();

/// Calls use(bytes, offset(k)): the bytes of the workspace for slots, and a function with the offset of slot k.
template <class P, class Use>
void with_placement(Placements& placements, const Dims& dims, Use use) {
  constexpr std::size_t count = slots_of<P>.size();
  if constexpr (placed_by_compiler<P>) {
    static constexpr auto arena = arena_of<count>(slots_of<P>, Dims{});
    use(arena.bytes, [](std::size_t k) { return arena.slots[k].offset; });
  } else {
    const Placement& p = placements.find(slots_of<P>.data(), count, dims);
    use(p.bytes, [&](std::size_t k) { return p.slots[k].offset; });
  }
}

}  // namespace crochet::cpu::CROCHET_ISA

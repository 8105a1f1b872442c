// SPDX-License-Identifier: Apache-2.0
// The plan: what a step of one demand does, as plain data. The executor turns it into straight-line calls.
#pragma once
#include <array>
#include <vector>

#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

/// Where a value lives while a step runs.
/// `items`: only a few items of it exist at a time, in the memory of the thread that takes them through a region.
enum class Region : std::uint8_t { none, variable, placeholder, slot, items };

struct Value {
  Region region = Region::none;
  Layout layout = Layout::row_major;
  std::int32_t index = -1;  ///< the slot's number; for sources the node of the model's graph; items: bytes an item
  DType dtype = DType::float32;
  Shape shape;
};

/// The workspace of one value. Barriers cut a run into phases: a slot is in use from the first to the last in which a
/// step touches it. Slots that are never in use together may overlap (arena.hpp).
struct ArenaSlot {
  Extent bytes;
  std::int32_t first = 0, last = 0;
};

/// How a step's program reaches one value.
struct Access {
  std::int32_t value = -1;
  Mode mode = Mode::none;
};

/// One instruction of a step's program; its result is known by its position.
struct Instruction {
  enum class Kind : std::uint8_t {
    root,       ///< the kernel's result
    load,       ///< a: the access
    store,      ///< a: the access, b: what
    constant,   ///< immediate
    compute,    ///< op of a, b, c
    accumulate  ///< a: the access, b: what; op: the reduction. Joins all that a loop computes for one element of the
                ///< access: everything, a column or a row, by its mode. Read by later steps only
  };
  Kind kind = Kind::root;
  DType dtype = DType::float32;
  const Op* op = nullptr;
  std::array<std::int16_t, 3> args{-1, -1, -1};
  double immediate = 0;
};

/// One kernel call: a root with its epilogue, or an elementwise loop.
struct Step {
  const Op* root = nullptr;
  std::int32_t root_value = -1;
  std::int32_t operands[max_inputs] = {-1, -1, -1, -1, -1, -1};
  Attributes attributes;
  Extent rows, columns;  ///< of the loop, or of the epilogue
  std::int32_t first_instruction = 0, instructions = 0;
  std::int32_t first_access = 0, accesses = 0;
  bool barrier = false;         ///< it needs what a step since the last barrier has written, or overwrites what it read
  std::int32_t region = -1;     ///< the item region that it is part of
  unsigned item_inputs = 0;     ///< in a region: which operands are taken item by item, as bits
  std::int32_t gathering = -1;  ///< if it accumulates: its number among the steps that do
};

/// Steps [first, first + count) are made item by item (passes/regions.hpp).
struct ItemSteps {
  std::int32_t first = 0, count = 0;
  Extent items;
  std::int64_t room = 0;   ///< bytes of Region::items that one item needs
  std::int64_t bytes = 0;  ///< bytes that the steps touch for one item, weights apart
};

/// A plan while it is made.
struct Plan {
  std::vector<Step> steps;
  std::vector<Instruction> instructions;
  std::vector<Access> accesses;
  std::vector<Value> values;  ///< by node of the subgraph
  std::vector<ArenaSlot> slots;
  std::vector<ItemSteps> regions;
  std::vector<int> fetched;  ///< values, in the demand's order
};

/// Its form at rest: arrays with room for a plan of N nodes, of which the first so many are used. Room and not exact
/// sizes, because those would cost the compiler a second evaluation of every pass.
template <std::size_t N, std::size_t F>
struct FrozenPlan {
  static constexpr std::size_t room = 4 * N;

  std::array<Step, N> steps;
  std::array<Instruction, room> instructions;
  std::array<Access, room> accesses;
  std::array<Value, N> values;
  std::array<ArenaSlot, N> slots;
  std::array<ItemSteps, N / 2> regions;
  std::array<int, F> fetched;
  std::size_t step_count = 0, value_count = 0, slot_count = 0, region_count = 0, gathering_count = 0;

  constexpr explicit FrozenPlan(const Plan& p)
      : steps(padded<N>(p.steps)),
        instructions(padded<room>(p.instructions)),
        accesses(padded<room>(p.accesses)),
        values(padded<N>(p.values)),
        slots(padded<N>(p.slots)),
        regions(padded<N / 2>(p.regions)),
        fetched(padded<F>(p.fetched)),
        step_count(p.steps.size()),
        value_count(p.values.size()),
        slot_count(p.slots.size()),
        region_count(p.regions.size()) {
    for (const Step& s : p.steps) gathering_count += s.gathering >= 0 ? 1U : 0U;
  }

 private:
  template <std::size_t Room, class T>
  static constexpr std::array<T, Room> padded(const std::vector<T>& from) {
    std::array<T, Room> to{};
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    return to;
  }
};

constexpr std::size_t slot_count(const Plan& p) { return p.slots.size(); }
template <std::size_t N, std::size_t F>
constexpr std::size_t slot_count(const FrozenPlan<N, F>& p) {
  return p.slot_count;
}

}  // namespace crochet

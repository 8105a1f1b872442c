// SPDX-License-Identifier: Apache-2.0
// The plan: the steps of one demand as plain data. The executor compiles it to straight-line calls.
#pragma once
#include <array>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

/// Where a value is stored while a step runs. `tile`: only a few items of it exist at a time, in the memory of the
/// thread that processes them in a region.
enum class AddressSpace : std::uint8_t { none, variable, placeholder, arena, tile };

struct Value {
  AddressSpace space = AddressSpace::none;
  Layout layout = Layout::row_major;
  /// arena: the slot's number; sources: the node in the model's graph; tile: offset in bytes per item
  std::int32_t index = -1;
  DType dtype = DType::float32;
  Shape shape;
};

/// The workspace of one value. Barriers divide a run into phases; a slot is in use from the first to the last phase
/// with a step that accesses it. Slots that are never in use together may overlap (arena.hpp).
struct ArenaSlot {
  Extent bytes;
  std::int32_t first = 0, last = 0;
};

/// How a step's program accesses one value.
struct Access {
  std::int32_t value = -1;
  BroadcastMode mode = BroadcastMode::none;
};

/// One instruction of a step's program. Its position identifies its result.
struct Instruction {
  enum class Kind : std::uint8_t {
    root,      ///< the kernel's result
    load,      ///< a: the access
    store,     ///< a: the access, b: the value
    constant,  ///< immediate
    compute,   ///< op of a, b, c
    /// a: the access, b: the value, op: the reduction. Reduces over the loop into one element of the access:
    /// everything, a column or a row, by its mode. Only later steps may read it
    accumulate
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
  /// the step reads what was written since the last barrier, or overwrites what was read since then
  bool barrier = false;
  std::int32_t region = -1;            ///< the item region that contains it
  unsigned item_inputs = 0;            ///< in a region: the operands that are split into items, as bits
  std::int32_t reduction_buffer = -1;  ///< if it reduces: its number among the steps that do
};

/// Steps [first, first + count) run item by item (passes/regions.hpp).
struct ItemSteps {
  std::int32_t first = 0, count = 0;
  Extent items;
  std::int64_t room = 0;   ///< bytes of AddressSpace::tile per item
  std::int64_t bytes = 0;  ///< bytes accessed per item, without weights
};

/// A plan under construction.
struct Plan {
  ConstexprVector<Step> steps;
  ConstexprVector<Instruction> instructions;
  ConstexprVector<Access> accesses;
  ConstexprVector<Value> values;  ///< by node of the subgraph
  ConstexprVector<ArenaSlot> slots;
  ConstexprVector<ItemSteps> regions;
  ConstexprVector<int> fetched;  ///< values, in the demand's order
};

/// The number of elements of each kind in a plan.
struct PlanSizes {
  std::size_t steps, instructions, accesses, values, slots, regions, fetched;
};

/// The fixed-size form of a plan: arrays of the given capacity, of which used_ elements are in use.
template <PlanSizes Room>
class FrozenPlan {
 public:
  std::array<Step, Room.steps> steps{};
  std::array<Instruction, Room.instructions> instructions{};
  std::array<Access, Room.accesses> accesses{};
  std::array<Value, Room.values> values{};
  std::array<ArenaSlot, Room.slots> slots{};
  std::array<ItemSteps, Room.regions> regions{};
  std::array<int, Room.fetched> fetched{};
  std::size_t step_count = 0, value_count = 0, slot_count = 0, region_count = 0, reduction_buffer_count = 0;

  template <class P>
  constexpr explicit FrozenPlan(const P& p) : used_(sizes_of(p)) {
    step_count = used_.steps, value_count = used_.values, slot_count = used_.slots, region_count = used_.regions;
    if (!fits()) return;
    copy(p.steps.data(), used_.steps, steps.data());
    copy(p.instructions.data(), used_.instructions, instructions.data());
    copy(p.accesses.data(), used_.accesses, accesses.data());
    copy(p.values.data(), used_.values, values.data());
    copy(p.slots.data(), used_.slots, slots.data());
    copy(p.regions.data(), used_.regions, regions.data());
    copy(p.fetched.data(), used_.fetched, fetched.data());
    for (const Step& s : steps) reduction_buffer_count += s.reduction_buffer >= 0 ? 1U : 0U;
  }

  constexpr const PlanSizes& sizes() const { return used_; }
  /// Converts back to a Plan, to be modified.
  constexpr Plan to_mutable() const {
    return {{steps.data(), steps.data() + used_.steps},
            {instructions.data(), instructions.data() + used_.instructions},
            {accesses.data(), accesses.data() + used_.accesses},
            {values.data(), values.data() + used_.values},
            {slots.data(), slots.data() + used_.slots},
            {regions.data(), regions.data() + used_.regions},
            {fetched.data(), fetched.data() + used_.fetched}};
  }
  /// Instructions and accesses are checked together: their number is not known before the plan is written.
  constexpr bool fits() const { return used_.instructions <= Room.instructions && used_.accesses <= Room.accesses; }
  constexpr std::size_t needed() const {
    return used_.instructions > used_.accesses ? used_.instructions : used_.accesses;
  }

 private:
  static constexpr PlanSizes sizes_of(const Plan& p) {
    return {p.steps.size(), p.instructions.size(), p.accesses.size(), p.values.size(),
            p.slots.size(), p.regions.size(),      p.fetched.size()};
  }
  template <PlanSizes Other>
  static constexpr PlanSizes sizes_of(const FrozenPlan<Other>& p) {
    return p.sizes();
  }
  template <class E>
  static constexpr void copy(const E* from, std::size_t n, E* to) {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }

  PlanSizes used_;
};

constexpr std::size_t slot_count(const Plan& p) { return p.slots.size(); }
template <PlanSizes Room>
constexpr std::size_t slot_count(const FrozenPlan<Room>& p) {
  return p.slot_count;
}

}  // namespace crochet

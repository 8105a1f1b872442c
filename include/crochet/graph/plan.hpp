// SPDX-License-Identifier: Apache-2.0
// The plan: what a step of one demand does, as plain data. The executor turns it into straight-line calls.
#pragma once
#include <array>
#include <vector>

#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

/// Where a value lives while a step runs.
enum class Region : std::uint8_t { none, variable, placeholder, slot };

struct Value {
  Region region = Region::none;
  Layout layout = Layout::row_major;
  std::int32_t index = -1;  ///< the slot's number; for sources the node of the model's graph
  DType dtype = DType::float32;
  Shape shape;
};

/// A piece of workspace that values take turns in.
struct ArenaSlot {
  Extent bytes;
};

/// How a step's program reaches one value.
struct Access {
  std::int32_t value = -1;
  Mode mode = Mode::none;
};

/// One instruction of a step's program; its result is known by its position.
struct Instruction {
  enum class Kind : std::uint8_t {
    root,      ///< the kernel's result
    load,      ///< a: the access
    store,     ///< a: the access, b: what
    constant,  ///< immediate
    compute    ///< op of a, b, c
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
  bool barrier = false;  ///< it needs what a step since the last barrier has written, or overwrites what it read
};

/// A plan while it is made.
struct Plan {
  std::vector<Step> steps;
  std::vector<Instruction> instructions;
  std::vector<Access> accesses;
  std::vector<Value> values;  ///< by node of the subgraph
  std::vector<ArenaSlot> slots;
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
  std::array<int, F> fetched;
  std::size_t step_count = 0, value_count = 0, slot_count = 0;

  constexpr explicit FrozenPlan(const Plan& p)
      : steps(padded<N>(p.steps)),
        instructions(padded<room>(p.instructions)),
        accesses(padded<room>(p.accesses)),
        values(padded<N>(p.values)),
        slots(padded<N>(p.slots)),
        fetched(padded<F>(p.fetched)),
        step_count(p.steps.size()),
        value_count(p.values.size()),
        slot_count(p.slots.size()) {}

 private:
  template <std::size_t Room, class T>
  static constexpr std::array<T, Room> padded(const std::vector<T>& from) {
    std::array<T, Room> to{};
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    return to;
  }
};

}  // namespace crochet

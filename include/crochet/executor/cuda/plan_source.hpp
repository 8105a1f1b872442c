// SPDX-License-Identifier: Apache-2.0
// The steps of a plan for the writer of its CUDA C++ text: names and numbers, without the graph.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/step_types.hpp>

namespace crochet::cuda {

/// The tables of a model's graph for a device.
template <class Model, class... Extensions>
using DeviceTables =
    cpu::Tables<cpu::DeviceTraits{.packs = false, .by_items = false, .reads_bfloat16 = false}, Model, Extensions...>;

/// An instruction of a step's program.
struct SourceInstruction {
  Instruction::Kind kind = Instruction::Kind::root;
  DType dtype = DType::float32, operand = DType::float32;
  std::string_view op{};  ///< its name in namespace crochet::op; empty if none
  std::array<std::int16_t, 3> args{};
  double immediate = 0;
};
/// An access of a step's program.
struct SourceAccess {
  DType dtype = DType::float32;
  BroadcastMode mode = BroadcastMode::full;
};
/// A step.
struct SourceStep {
  std::string_view root{};  ///< the name of its operation; empty for a loop
  bool epilogue = false, reduces = false, scalar = false, barrier = false;
  std::int32_t rank = 0;   ///< of the result
  std::int32_t types = 0;  ///< the number of element types: the result's, then the operands'
  std::array<DType, 1 + max_inputs> dtypes{};
  std::int32_t first_instruction = 0, instructions = 0, first_access = 0, accesses = 0;
};
struct PlanSource {
  std::span<const SourceStep> steps;
  std::span<const SourceInstruction> instructions;
  std::span<const SourceAccess> accesses;
};

/// P: the plan of a demand (cpu::Planned).
template <class P>
class StoredSource {
  static constexpr const auto& plan = P::plan;

  static constexpr auto steps = [] {
    std::array<SourceStep, plan.step_count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Step& s = plan.steps[i];
      SourceStep& to = all[i];
      to = {.reduces = s.reduction_buffer >= 0,
            .scalar = s.root == nullptr && cpu::is_scalar(s),
            .barrier = s.barrier,
            .first_instruction = s.first_instruction,
            .instructions = s.instructions,
            .first_access = s.first_access,
            .accesses = s.accesses};
      if (s.root == nullptr) continue;
      to.root = s.root->name;
      to.epilogue = s.root->has_epilogue();
      const Value& out = plan.values[static_cast<std::size_t>(s.root_value)];
      to.rank = static_cast<std::int32_t>(out.shape.rank);
      to.dtypes[0] = out.dtype;
      const std::size_t inputs = cpu::operands_of(s);
      to.types = 1 + static_cast<std::int32_t>(inputs);
      for (std::size_t k = 0; k < inputs; ++k) {
        to.dtypes[1 + k] = plan.values[static_cast<std::size_t>(s.operands[k])].dtype;
      }
    }
    return all;
  }();
  static constexpr auto instructions = [] {
    std::array<SourceInstruction, plan.sizes().instructions> all{};
    for (const Step& s : plan.steps) {
      for (std::int32_t k = s.first_instruction; k < s.first_instruction + s.instructions; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Instruction& i = plan.instructions[at];
        all[at] = {i.kind, i.dtype, i.dtype, i.op == nullptr ? std::string_view{} : i.op->name, i.args, i.immediate};
        if (i.kind == Instruction::Kind::compute && i.args[0] >= 0) {
          all[at].operand = plan.instructions.data()[s.first_instruction + i.args[0]].dtype;
        }
      }
    }
    return all;
  }();
  static constexpr auto accesses = [] {
    std::array<SourceAccess, plan.sizes().accesses> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Access& a = plan.accesses[i];
      all[i] = {plan.values[static_cast<std::size_t>(a.value)].dtype, a.mode};
    }
    return all;
  }();

 public:
  static constexpr PlanSource source() { return {steps, instructions, accesses}; }
};

}  // namespace crochet::cuda

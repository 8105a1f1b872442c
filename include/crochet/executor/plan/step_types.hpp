// SPDX-License-Identifier: Apache-2.0
// StepTypes: the steps of a plan as types, the same for every device.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/panels.hpp>
#include <crochet/kernels/program.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The number of operands of a step with a kernel.
constexpr std::size_t operands_of(const Step& s) {
  std::size_t n = 0;
  while (n < max_inputs && s.operands[n] >= 0) ++n;
  return n;
}
/// A step with one element, computed by one thread.
constexpr bool is_scalar(const Step& s) { return s.rows.is_one() && s.columns.is_one(); }
/// Whether a value with this many columns takes several panels.
constexpr bool in_many_panels(const Value& v, const Extent& columns) {
  const std::int64_t width = v.dtype == DType::float64 ? kernel::panel_width<double> : kernel::panel_width<float>;
  return v.layout == Layout::panels && columns.factor > width;
}

/// The types with which kernels are instantiated for a step. P: the plan of the demand (Planned).
template <class P>
class StepTypes {
  static constexpr const auto& plan = P::plan;

 public:
  // First the functions behind the types. They are public because clang 14 checks access where an alias is used.

  template <std::int32_t V>
  using type_of = element_t<plan.values[static_cast<std::size_t>(V)].dtype>;

  template <std::int32_t At, std::int32_t First>
  static constexpr auto instruction() {
    constexpr Instruction i = plan.instructions[static_cast<std::size_t>(At)];
    using R = element_t<i.dtype>;
    constexpr int a = i.args[0], b = i.args[1], c = i.args[2];
    if constexpr (i.kind == Instruction::Kind::root) return kernel::Root<R>{};
    if constexpr (i.kind == Instruction::Kind::load) return kernel::Load<R, a>{};
    if constexpr (i.kind == Instruction::Kind::store) return kernel::Store<R, a, b>{};
    if constexpr (i.kind == Instruction::Kind::accumulate) return kernel::Accumulate<R, i.op, a, b>{};
    if constexpr (i.kind == Instruction::Kind::constant) {
      return kernel::Constant<R, std::bit_cast<std::uint64_t>(i.immediate)>{};
    }
    if constexpr (i.kind == Instruction::Kind::compute) {
      constexpr std::int32_t operand = First + (a < 0 ? 0 : a);
      using A = element_t<plan.instructions[static_cast<std::size_t>(operand)].dtype>;
      return kernel::Compute<R, i.op, a, A, b, c>{};
    }
  }
  template <std::int32_t First, std::size_t... I>
  static constexpr auto program(std::index_sequence<I...>) {
    return kernel::Program<decltype(instruction<First + static_cast<std::int32_t>(I), First>())...>{};
  }
  /// A matrix that fits one panel is accessed as row-major.
  template <std::size_t S, std::int32_t At>
  static constexpr auto ref_type() {
    constexpr Access a = plan.accesses[static_cast<std::size_t>(At)];
    constexpr bool panels = in_many_panels(plan.values[static_cast<std::size_t>(a.value)], plan.steps[S].columns);
    return kernel::Ref < type_of<a.value>, a.mode, panels ? Layout::panels : Layout::row_major > {};
  }
  template <std::size_t S, std::size_t... I>
  static constexpr auto ref_types(std::index_sequence<I...>) {
    constexpr std::int32_t first = plan.steps[S].first_access;
    return kernel::Refs<decltype(ref_type<S, first + static_cast<std::int32_t>(I)>())...>{};
  }
  template <std::size_t C, std::size_t... I>
  static constexpr auto kernel_types_from(std::index_sequence<I...>) {
    constexpr Step s = plan.steps[C];
    return kernel::Types<type_of<s.root_value>, type_of<s.operands[I]>...>{};
  }

  /// The fused program of step S.
  template <std::size_t S>
  using program_of = decltype(program<plan.steps[S].first_instruction>(
      std::make_index_sequence<static_cast<std::size_t>(plan.steps[S].instructions)>{}));
  /// The operands of that program.
  template <std::size_t S>
  using refs_t = decltype(ref_types<S>(std::make_index_sequence<static_cast<std::size_t>(plan.steps[S].accesses)>{}));
  /// The element types of the result and of the operands of step S, which has a kernel.
  template <std::size_t S>
  using kernel_types = decltype(kernel_types_from<S>(std::make_index_sequence<operands_of(plan.steps[S])>{}));

  /// Whether one of the step's operands is in panels.
  template <std::size_t C>
  static constexpr bool has_panels() {
    const Step& s = plan.steps[C];
    for (std::int32_t a = s.first_access; a < s.first_access + s.accesses; ++a) {
      const std::int32_t value = plan.accesses[static_cast<std::size_t>(a)].value;
      if (plan.values[static_cast<std::size_t>(value)].layout == Layout::panels) return true;
    }
    return false;
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

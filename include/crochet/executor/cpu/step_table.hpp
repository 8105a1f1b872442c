// SPDX-License-Identifier: Apache-2.0
// The steps of a plan as a table of numbers for the running program, which then does not contain the compile-time plan.
// Also determines which steps have the same code with other numbers: most layers do, and that code is compiled once.
#pragma once
#include <array>
#include <bit>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/graph/passes/regions.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The location of a value.
struct StoredPlace {
  AddressSpace space = AddressSpace::none;
  /// byte offset in variables; placeholder's node; arena: the slot's number; tile: byte offset per item
  std::int64_t index = -1;
  std::int64_t item_bytes = 0;  ///< if a step runs on some items: the distance of items in bytes
};

/// An access of a step's program.
struct StoredAccess {
  StoredPlace place;
  std::int64_t pitch = -1;  ///< in elements; -1: the step's columns
};

/// A kernel's result or operand.
struct StoredOperand {
  StoredPlace place;
  std::int64_t leading = 0;  ///< if a step runs on some items: the part of the first dimension per item; 0: all
  Layout layout = Layout::row_major;
  Shape shape;
};

struct StoredStep {
  Extent rows, columns;
  std::int64_t item_rows = 0, item_columns = 0;  ///< if it runs on some items: the rows, or columns, per item
  std::int32_t first_access = 0, first_operand = 0;
  std::int32_t reduction_buffer = -1;
  bool barrier = false;
  Attributes attributes;
};

namespace detail {

constexpr std::int64_t stored_pitch(const Value& v, const Step& s) {
  if (v.layout == Layout::row_major) return -1;
  const std::int64_t width = v.dtype == DType::float64 ? kernel::panel_width<double> : kernel::panel_width<float>;
  return in_many_panels(v, s.columns) ? s.rows.factor * width : kernel::panel_pitch<float>(s.columns.factor);
}
constexpr bool same_instruction(const Instruction& a, const Instruction& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.args[0] == b.args[0] && a.args[1] == b.args[1] &&
         a.args[2] == b.args[2] &&
         std::bit_cast<std::uint64_t>(a.immediate) == std::bit_cast<std::uint64_t>(b.immediate);
}

template <class Plan>
constexpr bool same_type(const Plan& plan, std::int32_t v, std::int32_t w) {
  return v < 0 || w < 0 ? v == w : plan.values.data()[v].dtype == plan.values.data()[w].dtype;
}
template <class Plan>
constexpr bool same_program(const Plan& plan, const Step& a, const Step& b) {
  const Instruction* const instructions = plan.instructions.data();
  for (std::int32_t i = a.instructions - 1; i >= 0; --i) {
    if (!same_instruction(instructions[a.first_instruction + i], instructions[b.first_instruction + i])) return false;
  }
  return true;
}
template <class Plan>
constexpr bool same_operand_types(const Plan& plan, const Step& a, const Step& b) {
  if (!same_type(plan, a.root_value, b.root_value)) return false;
  for (std::size_t i = 0; i < max_inputs; ++i) {
    if (!same_type(plan, a.operands[i], b.operands[i])) return false;
    if (a.operands[i] < 0) break;
  }
  return true;
}
template <class Plan>
constexpr bool same_accesses(const Plan& plan, const Step& a, const Step& b) {
  const Access *x = plan.accesses.data() + a.first_access, *y = plan.accesses.data() + b.first_access;
  for (std::int32_t i = 0; i < a.accesses; ++i, ++x, ++y) {
    const Value &v = plan.values.data()[x->value], &w = plan.values.data()[y->value];
    if (x->mode != y->mode || v.dtype != w.dtype || v.layout != w.layout) return false;
    if (in_many_panels(v, a.columns) != in_many_panels(w, b.columns)) return false;
  }
  return true;
}

/// Whether two steps differ in numbers only: the same kernel and program on operands of the same types.
template <class Plan>
constexpr bool same_code(const Plan& plan, const Step& a, const Step& b) {
  if (a.root != b.root || a.instructions != b.instructions || a.accesses != b.accesses) return false;
  if ((a.reduction_buffer < 0) != (b.reduction_buffer < 0) || is_scalar(a) != is_scalar(b)) return false;
  if (!same_program(plan, a, b)) return false;
  return (a.root == nullptr || same_operand_types(plan, a, b)) && same_accesses(plan, a, b);
}

/// Whether a program with this mode accesses different elements for different items.
constexpr bool follows_rows(BroadcastMode mode) { return mode == BroadcastMode::full || mode == BroadcastMode::column; }

}  // namespace detail

/// T: the tables of the graph, P: the plan (Planned).
template <class T, class P>
class StepTable {
  static constexpr const auto& plan = P::plan;
  static constexpr std::size_t count = plan.step_count;

  static constexpr StoredPlace place(std::int32_t value, const Step& s, bool by_items) {
    const Value& v = plan.values.data()[value];
    StoredPlace p{v.space, v.index, 0};
    if (v.space == AddressSpace::variable) p.index = static_cast<std::int64_t>(T::offsets.data()[v.index]);
    if (by_items && s.region >= 0 && v.space != AddressSpace::tile && v.space != AddressSpace::none) {
      const std::int64_t elements = elements_per_item(v.shape, plan.regions.data()[s.region].items);
      p.item_bytes = elements * static_cast<std::int64_t>(size_of(v.dtype));
    }
    return p;
  }
  static constexpr StoredOperand operand(std::int32_t value, const Step& s, bool by_items) {
    const Value& v = plan.values.data()[value];
    StoredOperand x{place(value, s, by_items), 0, v.layout, v.shape};
    if (by_items && s.region >= 0) x.leading = (v.shape[0] / plan.regions.data()[s.region].items).factor;
    return x;
  }
  static constexpr std::size_t operand_count = [] {
    std::size_t n = 0;
    for (std::size_t s = 0; s < count; ++s) n += plan.steps[s].root == nullptr ? 0 : 1 + operands_of(plan.steps[s]);
    return n;
  }();
  static constexpr std::size_t access_count = [] {
    std::size_t n = 0;
    for (std::size_t s = 0; s < count; ++s) n += static_cast<std::size_t>(plan.steps[s].accesses);
    return n;
  }();

 public:
  static constexpr auto steps = [] {
    std::array<StoredStep, count> table{};
    std::int32_t operands = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps[i];
      StoredStep& to = table[i];
      to.rows = s.rows, to.columns = s.columns, to.attributes = s.attributes;
      to.first_access = s.first_access, to.first_operand = operands;
      to.reduction_buffer = s.reduction_buffer, to.barrier = s.barrier;
      if (s.root != nullptr) operands += 1 + static_cast<std::int32_t>(operands_of(s));
      if (s.region < 0 || s.root != nullptr) continue;
      const Extent items = plan.regions.data()[s.region].items;
      const bool has_rows = divides(items, s.rows);
      if (has_rows) to.item_rows = (s.rows / items).factor;
      if (!has_rows) to.item_columns = (s.columns / items).factor;
    }
    return table;
  }();

  static constexpr auto accesses = [] {
    std::array<StoredAccess, access_count> table{};
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps[i];
      for (std::int32_t k = s.first_access; k < s.first_access + s.accesses; ++k) {
        const Access& a = plan.accesses.data()[k];
        table.data()[k] = {place(a.value, s, detail::follows_rows(a.mode)),
                           detail::stored_pitch(plan.values.data()[a.value], s)};
      }
    }
    return table;
  }();

  /// For each step with a kernel: the result, then the operands.
  static constexpr auto operands = [] {
    std::array<StoredOperand, operand_count> table{};
    StoredOperand* to = table.data();
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps[i];
      if (s.root == nullptr) continue;
      *to++ = operand(s.root_value, s, true);
      const std::size_t inputs = operands_of(s);
      for (std::size_t k = 0; k < inputs; ++k) *to++ = operand(s.operands[k], s, ((s.item_inputs >> k) & 1U) != 0);
    }
    return table;
  }();

  /// By step: the first step with the same code.
  static constexpr auto code = [] {
    std::array<std::size_t, count> first{}, known{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t k = 0;
      while (k < n && !detail::same_code(plan, plan.steps[known[k]], plan.steps[i])) ++k;
      if (k == n) known[n++] = i;
      first[i] = known[k];
    }
    return first;
  }();
  /// By step: whether other steps have the same code and the step takes longer than a call.
  static constexpr auto shared = [] {
    std::array<bool, count> several{};
    for (std::size_t i = 0; i < count; ++i) {
      if (code[i] != i && !is_scalar(plan.steps[i])) several[i] = several[code[i]] = true;
    }
    return several;
  }();
  /// The steps that reduce, in the order of their numbers.
  static constexpr auto reduction_buffer = [] {
    std::array<std::size_t, plan.reduction_buffer_count> list{};
    for (std::size_t i = 0; i < count; ++i) {
      if (plan.steps[i].reduction_buffer >= 0) list[static_cast<std::size_t>(plan.steps[i].reduction_buffer)] = i;
    }
    return list;
  }();
};

}  // namespace crochet::cpu::CROCHET_ISA

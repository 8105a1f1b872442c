// SPDX-License-Identifier: Apache-2.0
// StepMemory: from the places in the table of steps to the memory that a kernel or a program accesses, for the whole
// batch or for a few items (where.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/step_table.hpp>
#include <crochet/executor/cpu/where.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/program.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// T: the tables of the graph, P: the plan of the demand (Planned). C: the first step with the same code.
template <class T, class P>
class StepMemory {
  static constexpr const auto& plan = P::plan;
  using Table = StepTable<T, P>;
  template <std::size_t C>
  using refs_t = typename StepTypes<P>::template refs_t<C>;

 public:
  /// The address of value V of the plan. Not for values in AddressSpace::tile, which have no address outside their
  /// region.
  template <std::int32_t V, class Frame>
  CROCHET_HOST_ALWAYS_INLINE static void* address(const Frame& frame) {
    static constexpr Value v = plan.values[static_cast<std::size_t>(V)];
    constexpr auto index = static_cast<std::size_t>(v.index);
    if constexpr (v.space == AddressSpace::variable) {
      return frame.variables + T::offsets[index];
    } else if constexpr (v.space == AddressSpace::placeholder) {
      return const_cast<void*>(frame.placeholders[index]);
    } else if constexpr (v.space == AddressSpace::arena) {
      return frame.slots[index];
    } else {
      return nullptr;
    }
  }

  /// The memory of a step's program.
  template <std::size_t C, class Where>
  CROCHET_HOST_ALWAYS_INLINE static refs_t<C> refs(const StoredStep& s, const Where& where) {
    refs_t<C> all;
    const std::int64_t columns = s.columns.at(where.dims);
    const StoredAccess* const accesses = Table::accesses.data() + s.first_access;
    [&]<std::size_t... I, class... R>(kernel::RefSlots<std::index_sequence<I...>, R...> & slots) {
      (reach(accesses[I], columns, where, static_cast<kernel::RefSlot<I, R>&>(slots).ref), ...);
    }
    (all);
    return all;
  }
  /// The same for step S on the whole batch.
  template <std::size_t S, class Frame>
  CROCHET_HOST_ALWAYS_INLINE static refs_t<S> refs_of(const Frame& frame) {
    return refs<S>(Table::steps[S], Whole<Frame>{frame, frame.dims, nullptr, 0});
  }

  /// The call of a step's kernel.
  template <std::size_t C, class Where>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Call call_of(const StoredStep& s, const Where& where,
                                                         kernel::Worker& worker) {
    constexpr std::size_t inputs = operands_of(plan.steps[C]);
    const StoredOperand* const operands = Table::operands.data() + s.first_operand;
    kernel::Call call{.in = {}, .out = {}, .attributes = s.attributes, .dims = where.dims, .worker = worker};
    if constexpr (std::remove_cvref_t<decltype(where.all)>::divides_batch) call.exchange = where.all.exchange;
    describe(operands[0], where, call.out);
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < inputs; ++i) describe(operands[1 + i], where, call.in[i]);
    return call;
  }

 private:
  /// The address of a value for a step.
  template <class Where>
  CROCHET_HOST_ALWAYS_INLINE static void* find(const StoredPlace& p, const Where& where) {
    if (p.space == AddressSpace::tile) return where.items + p.index * where.capacity;
    std::byte* at = nullptr;
    if (p.space == AddressSpace::variable) at = where.all.variables + p.index;
    if (p.space == AddressSpace::arena) at = where.all.slots.data()[p.index];
    if (p.space == AddressSpace::placeholder) {
      at = static_cast<std::byte*>(const_cast<void*>(where.all.placeholders.data()[p.index]));
    }
    if constexpr (Where::sliced) at += where.range.from * p.item_bytes;
    return at;
  }

  template <class R, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void reach(const StoredAccess& a, std::int64_t columns, const Where& where,
                                               R& ref) {
    ref.data = static_cast<decltype(ref.data)>(find(a.place, where));
    ref.pitch = a.pitch < 0 ? columns : a.pitch;
  }

  // Not inlined, because it is the same for every operand of every step.
  template <class Where>
  [[gnu::noinline]] static void describe(const StoredOperand& from, const Where& where, kernel::Operand& to) {
    to.data = find(from.place, where);
    to.rank = from.shape.rank;
    to.layout = from.layout;
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < from.shape.rank; ++i) to.extents[i] = from.shape[i].at(where.dims);
    if constexpr (Where::sliced) {
      if (from.leading != 0) to.extents[0] = from.leading * where.range.size();
    }
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

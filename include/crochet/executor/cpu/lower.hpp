// SPDX-License-Identifier: Apache-2.0
// Code generation: each step of a plan becomes one call of a kernel, with its program as a type and its memory as
// arguments. Steps that differ in numbers only share one function, which reads the numbers from a table
// (step_table.hpp). A step without such others is inlined, with its numbers as constants.
#pragma once
#include <array>
#include <atomic>
#include <utility>

#include <crochet/executor/cpu/step_table.hpp>
#include <crochet/executor/cpu/where.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/loop.hpp>

namespace crochet::cpu {

template <class T, class P, class Backend, class Probes>
class ProbedSteps;

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P, class Backend>
class Lowering {
  static constexpr const auto& plan = P::plan;
  using Table = StepTable<T, P>;
  template <class, class, class, class>
  friend class ProbedSteps;

 public:
  using FrameType = Frame<plan.slot_count, T::graph.nodes.size(), plan.reduction_buffer_count>;

  /// Runs all steps, in order, on one member of the team.
  static void run(const FrameType& frame, kernel::Worker& worker) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      // An array instead of a fold expression: clang nests folds and limits their depth to 256.
      [[maybe_unused]] const bool done[] = {
          true,
          (step_or_region<Table::code[S], Table::shared[S], region_at(S)>(Table::steps[S], frame, worker), true)...};
    }
    (std::make_index_sequence<plan.step_count>{});
  }

  /// Whether all steps compute scalars only, so that using a second thread does not pay.
  static constexpr bool only_scalars = [] {
    for (std::size_t s = 0; s < plan.step_count; ++s) {
      const Step& step = plan.steps[s];
      if (step.root != nullptr || step.reduction_buffer >= 0 || !is_scalar(step)) return false;
    }
    return true;
  }();

  /// The bytes of workspace for the values of regions, for a team of `members`.
  static constexpr std::size_t item_bytes(std::int64_t members) {
    return static_cast<std::size_t>(region_room * members);
  }

  /// The address of value V of the plan. Not for values in AddressSpace::tile, which have no address outside their
  /// region.
  template <std::int32_t V>
  CROCHET_HOST_ALWAYS_INLINE static void* address(const FrameType& frame) {
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

  /// Allocates memory for the partial results of each step that reduces, for all members of a team. The memory is kept.
  static void place_totals(FrameType& frame, kernel::AlignedBytes& memory, int members) {
    if constexpr (plan.reduction_buffer_count > 0) {
      std::array<std::size_t, plan.reduction_buffer_count + 1> offsets{};
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((offsets[K + 1] = offsets[K] + totals<Table::code[Table::reduction_buffer[K]]>(
                                            Table::steps[Table::reduction_buffer[K]], frame.dims, members)),
         ...);
      }
      (std::make_index_sequence<plan.reduction_buffer_count>{});
      memory.reserve(offsets[plan.reduction_buffer_count], "the totals of a run");
      for (std::size_t k = 0; k < plan.reduction_buffer_count; ++k) frame.totals[k] = memory.data() + offsets[k];
    }
  }

 private:
  template <std::size_t S>
  using program_of = typename StepTypes<P>::template program_of<S>;
  template <std::size_t S>
  using refs_t = typename StepTypes<P>::template refs_t<S>;

  template <std::size_t C>
  static std::size_t totals(const StoredStep& s, const Dims& dims, int members) {
    return static_cast<std::size_t>(kernel::loop_room<program_of<C>, refs_t<C>>(s.columns.at(dims)) * members);
  }

  // Regions: every member takes its items through all steps, a few at a time. If there are fewer items than members,
  // the members share each step instead.

  static constexpr int no_region = -1, inside_one = -2;
  /// The region that begins with a step.
  static constexpr int region_at(std::size_t step) {
    const std::int32_t r = plan.steps[step].region;
    if (r < 0) return no_region;
    return plan.regions.data()[r].first == static_cast<std::int32_t>(step) ? r : inside_one;
  }

  /// The number of items per slice. The memory accessed for them, and weights, should fit a core's own cache.
  static constexpr std::int64_t items_at_once(const ItemSteps& r) {
    constexpr std::int64_t cache = std::int64_t{1} << 18;
    const std::int64_t items = cache / (r.bytes < 1 ? 1 : r.bytes);
    return items < 1 ? 1 : items;
  }
  /// The bytes that a member needs for its items.
  static constexpr std::int64_t region_room = [] {
    std::int64_t most = 0;
    for (std::size_t r = 0; r < plan.region_count; ++r) {
      const std::int64_t bytes = plan.regions[r].room * items_at_once(plan.regions[r]);
      most = bytes > most ? bytes : most;
    }
    return most;
  }();

  // Two functions instead of one with a condition, because inlining is expensive to compile for plans of many steps.
  template <std::size_t C, bool Shared, int R>
  requires(Shared&& R == no_region)
      [[gnu::noinline]] static void step_or_region(const StoredStep& s, const FrameType& frame,
                                                   kernel::Worker& worker) {
    if (s.barrier) worker.sync();
    step_here<C>(s, Whole<FrameType>{frame, frame.dims, nullptr, 0}, worker);
  }
  template <std::size_t C, bool Shared, int R>
  requires(!Shared || R != no_region) CROCHET_HOST_ALWAYS_INLINE
      static void step_or_region(const StoredStep& s, const FrameType& frame, kernel::Worker& worker) {
    if constexpr (R == inside_one) return;
    if (s.barrier) worker.sync();
    if constexpr (R == no_region) {
      step_here<C>(s, Whole<FrameType>{frame, frame.dims, nullptr, 0}, worker);
    } else if constexpr (R >= 0) {
      region<static_cast<std::size_t>(R)>(frame, worker);
    }
  }

  template <std::size_t R>
  static void region(const FrameType& frame, kernel::Worker& worker) {
    each_slice<R>(frame, worker, [](auto together, const auto& where, kernel::Worker& who) {
      steps_of<R, together.value>(where, who);
    });
  }
  /// If there are fewer items than members, calls take(true_type, all items, worker); otherwise calls take(false_type,
  /// items, worker) for each slice of this member's items.
  template <std::size_t R, class Take>
  CROCHET_HOST_ALWAYS_INLINE static void each_slice(const FrameType& frame, kernel::Worker& worker, const Take& take) {
    static constexpr ItemSteps r = plan.regions[R];
    constexpr std::int64_t some = items_at_once(r);
    static constexpr Extent extent = r.items;
    const std::int64_t items = extent.at(frame.dims);
    if (items < worker.count()) {
      take(std::true_type{}, Whole<FrameType>{frame, frame.dims, frame.items, items}, worker);
      return;
    }
    kernel::Worker alone = worker.alone();
    const kernel::Range mine = worker.part(items);
    std::byte* const room = frame.items + worker.index() * r.room * some;
    for (std::int64_t i = mine.from; i < mine.to; i += some) {
      const kernel::Range range{i, i + some < mine.to ? i + some : mine.to};
      const bool first = i == mine.from, last = range.to == mine.to;
      const Slice<FrameType> slice{frame, frame.dims, room, some, range, worker.index(), worker.count(), first, last};
      take(std::false_type{}, slice, alone);
    }
  }
  template <std::size_t R, bool Together, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void steps_of(const Where& where, kernel::Worker& worker) {
    constexpr auto first = static_cast<std::size_t>(plan.regions[R].first);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] const bool done[] = {
          true,
          (Together && I > 0 ? worker.sync() : void(),
           step<Table::code[first + I], Table::shared[first + I]>(Table::steps[first + I], where, worker), true)...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(plan.regions[R].count)>{});
  }

  // Runs a step. C: the first step with the same code. The functions below are instantiated once for each such C.

  template <std::size_t C, bool Shared, class Where>
  requires(Shared) [[gnu::noinline]] static void step(const StoredStep& s, const Where& where, kernel::Worker& worker) {
    step_here<C>(s, where, worker);
  }
  template <std::size_t C, bool Shared, class Where>
  requires(!Shared) CROCHET_HOST_ALWAYS_INLINE
      static void step(const StoredStep& s, const Where& where, kernel::Worker& worker) {
    step_here<C>(s, where, worker);
  }
  template <std::size_t C, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void step_here(const StoredStep& s, const Where& where, kernel::Worker& worker) {
    static constexpr const Op* root = plan.steps[C].root;
    if constexpr (root == nullptr) {
      run_loop<C>(s, where, worker);
    } else {
      const kernel::Call call = call_of<C>(s, where, worker);
      using Types = typename StepTypes<P>::template kernel_types<C>;
      if constexpr (root->has_epilogue()) {
        const auto memory = refs<C>(s, where);
        const kernel::Epilogue<typename Types::out, program_of<C>, refs_t<C>> epilogue(memory);
        if constexpr (requires { typename Kernel<root>::Paths; }) {
          constexpr auto known = paths<C, Types>();
          Kernel<root>::template run<Backend, Types, known>(call, epilogue);
        } else {
          Kernel<root>::template run<Backend, Types>(call, epilogue);
        }
      } else {
        Kernel<root>::template run<Backend, Types>(call);
      }
    }
  }

  /// The code paths that the steps with the same code may need, for kernels that have a `Paths` type.
  template <std::size_t C, class Types>
  static constexpr auto paths() {
    using Paths = typename Kernel<plan.steps[C].root>::Paths;
    auto all = Paths::none();
    for (std::size_t s = C; s < plan.step_count; ++s) {
      if (Table::code.data()[s] != C) continue;
      const Step& step = plan.steps.data()[s];
      Shape in[max_inputs];
      for (std::size_t i = 0; i < operands_of(step); ++i) in[i] = plan.values.data()[step.operands[i]].shape;
      Paths::template add<Types>(all, step.attributes, in, plan.values.data()[step.root_value].shape);
    }
    return all;
  }

  /// Runs an elementwise step.
  template <std::size_t C, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void run_loop(const StoredStep& s, const Where& where, kernel::Worker& worker) {
    if constexpr (is_scalar(plan.steps[C])) {
      if (worker.index() == 0) kernel::once(program_of<C>{}, refs<C>(s, where));
      return;
    }
    const std::int64_t all_rows = s.rows.at(where.dims), all_columns = s.columns.at(where.dims);
    std::int64_t rows = all_rows, columns = all_columns;
    if constexpr (Where::sliced) {  // their part of the rows, or of the columns if there are no rows
      if (s.item_rows != 0) rows = s.item_rows * where.range.size();
      if (s.item_columns != 0) columns = s.item_columns * where.range.size();
    }
    if constexpr (StepTypes<P>::template has_panels<C>()) {
      kernel::loop_over_rows(program_of<C>{}, refs<C>(s, where), rows, columns, worker);
    } else if constexpr (plan.steps[C].reduction_buffer < 0) {
      kernel::loop(program_of<C>{}, refs<C>(s, where), rows, columns, worker);
    } else {
      const auto k = static_cast<std::size_t>(s.reduction_buffer);
      kernel::ReductionBuffer all{all_rows, all_columns, where.all.totals[k], &where.all.arrived[k], {}};
      if constexpr (Where::sliced) all.slice = {where.member, where.members, where.first, where.last};
      kernel::loop(program_of<C>{}, refs<C>(s, where), rows, columns, worker, all);
    }
  }

 public:
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static refs_t<S> refs_of(const FrameType& frame) {
    return refs<S>(Table::steps[S], Whole<FrameType>{frame, frame.dims, nullptr, 0});
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

  // The call of a kernel.

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
  template <std::size_t C, class Where>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Call call_of(const StoredStep& s, const Where& where,
                                                         kernel::Worker& worker) {
    constexpr std::size_t inputs = operands_of(plan.steps[C]);
    const StoredOperand* const operands = Table::operands.data() + s.first_operand;
    kernel::Call call{.in = {}, .out = {}, .attributes = s.attributes, .dims = where.dims, .worker = worker};
    describe(operands[0], where, call.out);
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < inputs; ++i) describe(operands[1 + i], where, call.in[i]);
    return call;
  }
};

}  // namespace crochet::cpu

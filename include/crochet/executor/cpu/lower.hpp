// SPDX-License-Identifier: Apache-2.0
// Code generation: each step of a plan becomes one call of a kernel, with its program as a type and its memory as
// arguments (step_memory.hpp). Steps that differ in numbers only share one function, which reads the numbers from a
// table (step_table.hpp). A step without such others is inlined, with its numbers as constants. The steps of a region
// run on a few items at a time (item_regions.hpp).
#pragma once
#include <array>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/item_regions.hpp>
#include <crochet/executor/cpu/step_memory.hpp>
#include <crochet/executor/cpu/step_table.hpp>
#include <crochet/executor/cpu/where.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/loop.hpp>

namespace crochet::cpu::CROCHET_ISA {

template <class T, class P, class Backend, class Probes>
class ProbedSteps;
template <class T, class P, class Backend>
class ShardSteps;

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P, class Backend>
class Lowering {
  static constexpr const auto& plan = P::plan;
  using Table = StepTable<T, P>;
  using Memory = StepMemory<T, P>;
  using Regions = ItemRegions<P>;
  template <class, class, class, class>
  friend class ProbedSteps;
  template <class, class, class>
  friend class ShardSteps;

 public:
  using FrameType =
      Frame<plan.slot_count, T::graph.nodes.size(), plan.reduction_buffer_count, kernel::divides_batch<Backend>>;

  /// Runs all steps, in order, on one member of the team.
  static void run(const FrameType& frame, kernel::Worker& worker) { run_steps<0, plan.step_count>(frame, worker); }

  /// Runs the steps [First, Last), which contain whole regions only.
  template <std::size_t First, std::size_t Last>
  CROCHET_HOST_ALWAYS_INLINE static void run_steps(const FrameType& frame, kernel::Worker& worker) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      // An array instead of a fold expression: clang nests folds and limits their depth to 256.
      [[maybe_unused]] const bool done[] = {
          true, (continue_exchanges<First + S>(frame, worker),
                 step_or_region<Table::code[First + S], Table::shared[First + S], Regions::region_at(First + S)>(
                     Table::steps[First + S], frame, worker),
                 true)...};
    }
    (std::make_index_sequence<Last - First>{});
  }

  /// Whether all steps compute scalars only, so that using a second thread does not pay.
  static constexpr bool only_scalars = [] {
    for (std::size_t s = 0; s < plan.step_count; ++s) {
      const Step& step = plan.steps[s];
      if (step.root != nullptr || step.reduction_buffer >= 0 || !is_scalar(step)) return false;
    }
    return true;
  }();

  /// Allocates memory for the partial results of each step that reduces, in at most `parts` parts. The memory is kept.
  static void place_totals(FrameType& frame, kernel::AlignedBytes& memory, int parts) {
    if constexpr (plan.reduction_buffer_count > 0) {
      std::array<std::size_t, plan.reduction_buffer_count + 1> offsets{};
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((offsets[K + 1] = offsets[K] + totals<Table::code[Table::reduction_buffer[K]]>(
                                            Table::steps[Table::reduction_buffer[K]], frame.dims, parts)),
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
  static std::size_t totals(const StoredStep& s, const Dims& dims, int parts) {
    return static_cast<std::size_t>(kernel::loop_room<program_of<C>, refs_t<C>>(s.columns.at(dims)) * parts);
  }

  /// Before step S, and each slice of a region that begins with it: exchanges that have begun go on.
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static void continue_exchanges(const FrameType& frame, const kernel::Worker& worker) {
    if constexpr (kernel::divides_batch<Backend>) {
      if constexpr (ExchangesOf<T, P>::overlaps_with(S)) {
        if (worker.index() == 0) frame.exchange->progress();
      }
    }
  }

  // Two functions instead of one with a condition, because inlining is expensive to compile for plans of many steps.
  template <std::size_t C, bool Shared, int R>
  requires(Shared&& R == Regions::no_region)
      [[gnu::noinline]] static void step_or_region(const StoredStep& s, const FrameType& frame,
                                                   kernel::Worker& worker) {
    if (s.barrier) worker.sync();
    step_here<C>(s, Whole<FrameType>{frame, frame.dims, nullptr, 0}, worker);
  }
  template <std::size_t C, bool Shared, int R>
  requires(!Shared || R != Regions::no_region) CROCHET_HOST_ALWAYS_INLINE
      static void step_or_region(const StoredStep& s, const FrameType& frame, kernel::Worker& worker) {
    if constexpr (R == Regions::inside_one) return;
    if (s.barrier) worker.sync();
    if constexpr (R == Regions::no_region) {
      step_here<C>(s, Whole<FrameType>{frame, frame.dims, nullptr, 0}, worker);
    } else if constexpr (R >= 0) {
      region<static_cast<std::size_t>(R)>(frame, worker);
    }
  }

  template <std::size_t R>
  static void region(const FrameType& frame, kernel::Worker& worker) {
    Regions::template each_slice<R>(frame, worker, [](auto together, const auto& where, kernel::Worker& who) {
      continue_exchanges<static_cast<std::size_t>(plan.regions[R].first)>(where.all, who);
      steps_of<R, together.value>(where, who);
    });
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
      const kernel::Call call = Memory::template call_of<C>(s, where, worker);
      using Types = typename StepTypes<P>::template kernel_types<C>;
      if constexpr (root->has_epilogue()) {
        const auto memory = Memory::template refs<C>(s, where);
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
      if (worker.index() == 0) kernel::once(program_of<C>{}, Memory::template refs<C>(s, where));
      return;
    }
    const std::int64_t all_rows = s.rows.at(where.dims), all_columns = s.columns.at(where.dims);
    std::int64_t rows = all_rows, columns = all_columns;
    if constexpr (Where::sliced) {  // their part of the rows, or of the columns if there are no rows
      if (s.item_rows != 0) rows = s.item_rows * where.range.size();
      if (s.item_columns != 0) columns = s.item_columns * where.range.size();
    }
    if constexpr (StepTypes<P>::template has_panels<C>()) {
      kernel::loop_over_rows(program_of<C>{}, Memory::template refs<C>(s, where), rows, columns, worker);
    } else if constexpr (plan.steps[C].reduction_buffer < 0) {
      kernel::loop(program_of<C>{}, Memory::template refs<C>(s, where), rows, columns, worker);
    } else {
      const auto k = static_cast<std::size_t>(s.reduction_buffer);
      kernel::ReductionBuffer all{all_rows, all_columns, where.all.totals[k], &where.all.arrived[k], {}};
      if constexpr (Where::sliced) all.slice = {where.part, where.parts, where.first, where.last};
      kernel::loop(program_of<C>{}, Memory::template refs<C>(s, where), rows, columns, worker, all);
    }
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

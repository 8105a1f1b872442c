// SPDX-License-Identifier: Apache-2.0
// PlanCode: the steps of a plan as the types of device code (kernels/cuda/step.hpp), and their source for the writer of
// the CUDA C++ text.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/cuda/step.hpp>
#include <crochet/kernels/cuda/watch.hpp>

namespace crochet::cuda {

/// The code of a step, and whether a barrier of all blocks is before it.
template <class Code, bool Barrier>
struct PlanStep {};

/// The steps of a plan, without its numbers and names: equal code is one type.
template <class... Step>
struct PlanSteps;
template <class... Code, bool... Barrier>
struct PlanSteps<PlanStep<Code, Barrier>...> {
  /// All runs of a launch, in every thread of a block.
  template <class Block>
  CROCHET_DEVICE static void run(Block& block, const Launch& launch) {
    for (int t = 0; begins_run(block, launch, t); ++t) run_all(block, launch, t, std::index_sequence_for<Code...>{});
  }

 private:
  template <class Block, std::size_t... S>
  CROCHET_DEVICE_INLINE static void run_all(Block& block, const Launch& launch, int t, std::index_sequence<S...>) {
    [[maybe_unused]] const bool done[] = {true,
                                          (run_step<Code, Barrier>(block, launch, t, static_cast<int>(S)), true)...};
  }
};

/// P: the plan of a demand (cpu::Planned).
template <class P>
class PlanCode {
  static constexpr const auto& plan = P::plan;

  template <std::size_t S>
  static constexpr auto code() {
    using Types = cpu::StepTypes<P>;
    constexpr Step s = plan.steps[S];
    if constexpr (s.root != nullptr) {
      using K = typename Types::template kernel_types<S>;
      if constexpr (s.root->has_epilogue()) {
        return FusedKernel<s.root, K, typename Types::template program_of<S>, typename Types::template refs_t<S>>{};
      } else {
        return StoringKernel<s.root, K>{};
      }
    } else if constexpr (s.reduction_buffer >= 0) {
      return ReducingLoop<typename Types::template program_of<S>, typename Types::template refs_t<S>>{};
    } else if constexpr (cpu::is_scalar(s)) {
      return Scalars<typename Types::template program_of<S>, typename Types::template refs_t<S>>{};
    } else {
      return Loop<typename Types::template program_of<S>, typename Types::template refs_t<S>>{};
    }
  }

  template <std::size_t... S>
  static constexpr auto steps_at(std::index_sequence<S...>) {
    return std::type_identity<PlanSteps<PlanStep<decltype(code<S>()), plan.steps[S].barrier>...>>{};
  }

 public:
  /// The steps: a std::type_identity of a PlanSteps. A function, so that only devices that compile them name them.
  static constexpr auto steps() { return steps_at(std::make_index_sequence<plan.step_count>{}); }

  /// The steps for the writer of the CUDA C++ text, which has the same types (plan_text.hpp).
  static constexpr PlanSource source() { return StoredSource<P>::source(); }

  /// All runs of a launch, in every thread of a block.
  template <class Block>
  CROCHET_DEVICE static void run(Block& block, const Launch& launch) {
    decltype(steps())::type::run(block, launch);
  }
};

}  // namespace crochet::cuda

// SPDX-License-Identifier: Apache-2.0
// PlanCode: the steps of a plan as the types of device code (kernels/cuda/step.hpp), a run of them on one block, and
// their source for the writer of the CUDA C++ text.
#pragma once
#include <cstddef>
#include <utility>

#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/cuda/step.hpp>
#include <crochet/kernels/cuda/watch.hpp>

namespace crochet::cuda {

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

 public:
  template <std::size_t S>
  using code_of = decltype(code<S>());

  /// The steps for the writer of the CUDA C++ text, which has the same types (plan_text.hpp).
  static PlanSource source() { return StoredSource<P>::source(); }

  /// All runs of a launch, in every thread of a block.
  template <class Block>
  CROCHET_DEVICE static void run(Block& block, const Launch& launch) {
    for (int t = 0; begins_run(block, launch, t); ++t) {
      [&]<std::size_t... S>(std::index_sequence<S...>) {
        [[maybe_unused]] const bool done[] = {
            true, (run_step<code_of<S>, plan.steps[S].barrier>(block, launch, t, static_cast<int>(S)), true)...};
      }
      (std::make_index_sequence<plan.step_count>{});
    }
  }
};

}  // namespace crochet::cuda

// SPDX-License-Identifier: Apache-2.0
// Cpu: the device on which a model is compiled for the CPU. `Cpu{.threads = 2}.compile<Model>()` is an executor for a
// session.
#pragma once

#include <crochet/executor/cpu/needs_cpu.hpp>

// First: with each mistake in a model, g++ prints by which headers it came to these.
#include <crochet/graph/core/graph_error.hpp>

#include <crochet/model.hpp>

#include <crochet/executor/cpu/executor.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/kernels/cpu/tiles.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

/// Where and how a model runs. Results are the same on every run for the same seed and number of threads. Backend is
/// the policy for matrix products: kernels/cpu/matrix.hpp says what one must provide.
template <class Backend>
struct BasicCpu {
  int threads = 1;         ///< how many threads share a step
  std::uint64_t seed = 0;  ///< of the variables' first values

  static constexpr bool is_device = true;

  /// The model's executor. All of its code is made in the compiler. A mistake in the model is one compile error here.
  template <class Model>
  auto compile() const {
    if constexpr (detail::Builds<Model>) {
      return cpu::Executor<Backend, Model>({threads, seed});
    } else if constexpr (!detail::Defines<Model>) {
      static_assert(model_is_usable<detail::define_error<Model>>, "crochet: crochet::error says why");
      return UnusableExecutor<>{};
    } else {  // reported here and not in a function: compilers print each call on the way
#if defined(__clang__)
      static_assert(detail::try_to_build<Model>());
#else
      [[maybe_unused]] constexpr bool wrong = detail::try_to_build<Model>();
#endif
      return UnusableExecutor<>{};
    }
  }
};

/// Products by crochet's own register tiles. crochet/executor/cpu/eigen.hpp has them by Eigen.
using Cpu = BasicCpu<kernel::Tiles>;

}  // namespace crochet

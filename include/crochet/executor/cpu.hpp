// SPDX-License-Identifier: Apache-2.0
// Cpu: the device on which a model is compiled for the CPU. `Cpu{.threads = 2}.compile<Model>()` is an executor for a
// session.
#pragma once
#include <crochet/executor/cpu/executor.hpp>
#include <crochet/kernels/cpu/tiles.hpp>

namespace crochet {

/// Where and how a model runs. Results are the same on every run for the same seed and number of threads. Backend is
/// the policy for matrix products: kernels/cpu/matrix.hpp says what one must provide.
template <class Backend>
struct BasicCpu {
  int threads = 1;         ///< how many threads share a step
  std::uint64_t seed = 0;  ///< of the variables' first values

  /// The model's executor. All of its code is made in the compiler.
  template <class Model>
  auto compile() const {
    return cpu::Executor<Backend, Model>({threads, seed});
  }
};

/// Products by crochet's own register tiles. crochet/executor/cpu_eigen.hpp has them by Eigen.
using Cpu = BasicCpu<kernel::Tiles>;

}  // namespace crochet

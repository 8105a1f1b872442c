// SPDX-License-Identifier: Apache-2.0
// Cpu: the device that compiles a model for the CPU. `Cpu{.threads = 2}.compile<Model>()` is an executor for a session.
#pragma once

#include <crochet/executor/cpu/needs_cpu.hpp>

// Included first, because g++ prints with each mistake in a model how it came to include these headers.
#include <crochet/graph/core/graph_error.hpp>

#include <crochet/model.hpp>

#include <crochet/kernels/simd.hpp>  // here, because its pragma is for the user's file as well

// g++ warns about each bound of an array that is a template argument of type int. clang checks the signs of the same
// code without that.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include <crochet/executor/cpu/executor.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/kernels/cpu/tiles.hpp>
#include <crochet/session/unusable_executor.hpp>
#pragma GCC diagnostic pop

namespace crochet {

/// Where and how a model runs. Backend: the policy for matrix products; see kernels/cpu/matrix.hpp for its interface.
/// - `threads` is a limit: a run is divided among as many threads as make it fastest, found by measurement
///   (executor/cpu/thread_choice.hpp), down to one. An executor starts `threads` - 1 threads when it is made; those
///   that have nothing to do block.
/// - For the same seed and limit the results of every run have the same bits, however many threads run: long sums are
///   divided into as many parts as the limit. State the limit for bits that do not depend on the machine's processors.
template <class Backend>
struct BasicCpu {
  int threads = 0;         ///< the limit; 0: the processors that the process may use, by affinity and cgroup quota
  std::uint64_t seed = 0;  ///< for the initial values of variables

  static constexpr bool is_device = true;

  /// For Parallel: the executor of one of several ranks, and its settings. Model: has a constant in_shards.
  template <class Model, class... Extensions>
  using executor_of_rank = cpu::Executor<kernel::OneOfSeveral<Backend, Model::in_shards>, Model, Extensions...>;
  static constexpr bool has_shards = true, exchanges_on_device = false;
  [[nodiscard]] cpu::Settings settings_of_rank(kernel::Exchange* exchange) const { return {threads, seed, exchange}; }

  /// The model's executor. All of its code is generated at compile time. A mistake in the model is one compile error
  /// here. Throws LogicError if `threads` is negative, and ResourceExhaustedError if the system cannot start them.
  template <class Model>
  auto compile() const {
    if constexpr (detail::Builds<Model>) {
      return cpu::Executor<Backend, Model>({threads, seed});
    } else if constexpr (!detail::Defines<Model>) {
      static_assert(model_is_usable<detail::define_error<Model>>, "crochet: crochet::error says why");
      return UnusableExecutor<>{};
    } else {  // reported here and not in a called function, because compilers print the chain of calls
#if defined(__clang__)
      static_assert(detail::try_to_build<Model>());
#else
      [[maybe_unused]] constexpr bool wrong = detail::try_to_build<Model>();
#endif
      return UnusableExecutor<>{};
    }
  }
};

/// Products by crochet's own register tiles. For Eigen's products see crochet/executor/cpu/eigen.hpp.
using Cpu = BasicCpu<kernel::Tiles>;
/// As Cpu, without algorithms whose rounding errors exceed those of a sum of products: convolutions of 3x3 pixels are
/// not computed by Winograd's. Those spread a NaN or the error of a very large pixel to results that do not read it.
using ExactCpu = BasicCpu<kernel::ExactTiles>;

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Cuda: the device that compiles a model for a GPU. `Cuda{}.compile<Model>()` is an executor for a session.
#pragma once

// Included first, because g++ prints with each mistake in a model how it came to include these headers.
#include <crochet/graph/core/graph_error.hpp>

#include <crochet/model.hpp>

#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/session/unusable_executor.hpp>

#if defined(CROCHET_HEADER_ONLY)
#include <crochet/executor/cuda/cubin_cache.ipp>
#include <crochet/executor/cuda/device_headers.ipp>
#include <crochet/executor/cuda/driver.ipp>
#include <crochet/executor/cuda/nvrtc.ipp>
#include <crochet/executor/cuda/plan_compiler.ipp>
#include <crochet/executor/cuda/plan_text.ipp>
#include <crochet/executor/cuda/shared_library.ipp>
#include <crochet/executor/cuda/timing_events.ipp>
#endif

namespace crochet {

/// Where and how a model runs: on a GPU. For the same seed the results of every run are the same bits on one kind of
/// GPU. Device: what launches the kernels, cuda::GpuDevice or cuda::NvccDevice.
template <class Device>
struct BasicCuda {
  int device = 0;             ///< the number of the GPU
  int steps_per_launch = 32;  ///< the maximum number of runs in one launch; reading a value launches earlier
  std::uint64_t seed = 0;     ///< for the initial values of variables
  /// A queue of this age is launched by the next run, so that a slow loop does not leave the GPU idle.
  double queue_seconds = 0.002;
  CudaMode mode = CudaMode::steps_per_launch;
  /// How products of floats round their operands. tf32 and bf16 need a GPU since Ampere, and Cuda.
  MatmulPrecision matmul_precision = MatmulPrecision::fp32;

  static constexpr bool is_device = true;

  /// For Parallel: the executor of one of several ranks, and its settings. Throws DeviceError as compile() does.
  template <class Model, class... Extensions>
  using executor_of_rank = cuda::Executor<Device, Model, Extensions...>;
  static constexpr bool has_shards = false, exchanges_on_device = true;
  [[nodiscard]] cuda::DeviceSettings<Device> settings_of_rank(kernel::Exchange* exchange) const {
    return {make_device(), settings(exchange)};
  }
  /// The same on the device of another executor.
  [[nodiscard]] cuda::DeviceSettings<Device> settings_of_rank(kernel::Exchange* exchange,
                                                              std::shared_ptr<Device> shared) const {
    return {std::move(shared), settings(exchange)};
  }

  /// The model's executor. Throws DeviceError if there is no GPU that can be used, or not with these options;
  /// LogicError if steps_per_launch is below 1, or queue_seconds is negative or NaN. A mistake in the model is one
  /// compile error here.
  template <class Model>
  auto compile() const {
    if constexpr (!Device::launches_here) {
      static_assert(Device::launches_here,
                    "crochet: NvccCuda is for files that nvcc compiles (.cu). Use Cuda in other files");
      return UnusableExecutor<>{};
    } else if constexpr (detail::Builds<Model>) {
      return cuda::Executor<Device, Model>(make_device(), settings());
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

 private:
  [[nodiscard]] std::shared_ptr<Device> make_device() const {
    if (mode == CudaMode::graph && !Device::has_graphs) {
      throw DeviceError(
          "crochet: NvccCuda launches a plan as one kernel; leave out .mode = CudaMode::graph, or use Cuda");
    }
    return std::make_shared<Device>(device, matmul_precision);
  }
  [[nodiscard]] cuda::Settings settings(kernel::Exchange* exchange = nullptr) const {
    return {.mode = mode,
            .steps_per_launch = steps_per_launch,
            .seed = seed,
            .queue_seconds = queue_seconds,
            .exchange = exchange};
  }
};

/// The kernel of a plan is compiled at run time by NVRTC when the plan is first launched, and kept on disk. For kernels
/// that nvcc compiles with the program see crochet/executor/cuda/nvcc.hpp.
using Cuda = BasicCuda<cuda::GpuDevice>;

}  // namespace crochet

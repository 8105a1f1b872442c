// SPDX-License-Identifier: Apache-2.0
// Settings: the options of an executor on a device.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/message.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet {

/// How the steps of a run are launched.
enum class CudaMode : std::uint8_t {
  steps_per_launch,  ///< several runs are one kernel, with barriers of the whole device between dependent steps
  graph              ///< a run is a CUDA graph, with a kernel for each step and edges in place of barriers
};

}  // namespace crochet

namespace crochet::cuda {

struct Settings {
  CudaMode mode = CudaMode::steps_per_launch;
  int steps_per_launch = 32;  ///< the most runs of one launch; more than 65536 is 65536
  std::uint64_t seed = 0;
  /// The age of a queue at which the next run launches it, in seconds. Default: a queue is launched only when it is
  /// full.
  double queue_seconds = std::numeric_limits<double>::infinity();
  Clock clock{};                         ///< read once a run if queue_seconds is finite
  kernel::Exchange* exchange = nullptr;  ///< on one of several ranks

  /// Throws LogicError if an option has no meaning.
  CROCHET_COLD void check() const {
    if (steps_per_launch < 1) {
      throw LogicError(crochet::detail::message(
          {"crochet: Cuda has .steps_per_launch = ", steps_per_launch, "; a launch has at least 1 step"}));
    }
    if (!(queue_seconds >= 0)) {
      throw LogicError("crochet: Cuda has a .queue_seconds that is negative or not a number; 0 launches every run");
    }
  }
};

/// A device, and the options of an executor on it.
template <class Device>
struct DeviceSettings {
  std::shared_ptr<Device> device;
  Settings settings;
};

}  // namespace crochet::cuda

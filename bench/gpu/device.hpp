// SPDX-License-Identifier: Apache-2.0
// The device of these benchmarks: the GPU of the machine or, where CROCHET_BENCH_SOFTWARE_DEVICE is defined, a device
// in software, on which the programs are tested with small shapes.
#pragma once
#include <crochet/executor/cuda/executor.hpp>

#include <memory>
#include <string>

#if defined(CROCHET_BENCH_SOFTWARE_DEVICE)
#include "../../tests/cuda/emulation/software_device.hpp"
#else
#include <crochet/executor/cuda/driver.hpp>
#endif

namespace bench {

#if defined(CROCHET_BENCH_SOFTWARE_DEVICE)
inline constexpr bool is_gpu = false;
using Device = emulation::SoftwareDevice;
inline std::string name_of(const Device&) { return "a device in software"; }
#else
inline constexpr bool is_gpu = true;
using Device = crochet::cuda::GpuDevice;
inline const std::string& name_of(const Device& device) { return device.name(); }
#endif

/// One for all models of a program. Throws DeviceError if there is none.
inline const std::shared_ptr<Device>& device() {
  static const auto one = std::make_shared<Device>();
  return one;
}

/// Cuda{}'s options, on the shared device.
struct Launching {
  int steps = 32;  ///< the most runs of a launch
};

template <class Model>
auto executor_of(const Launching& launching) {
  return crochet::cuda::Executor<Device, Model>(
      device(), {.steps_per_launch = launching.steps, .seed = 1, .queue_seconds = 0.002});
}

/// Launches what is queued and waits for the device.
template <class E>
void finish(E& executor) {
  executor.flush();
  device()->synchronize();
}

}  // namespace bench

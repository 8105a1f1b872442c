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

/// How products of floats round their operands, by name: "fp32", "tf32" and "bf16".
enum class Precision { fp32, tf32, bf16 };
constexpr const char* name_of(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::tf32 ? "tf32" : "bf16";
}
/// A device whose products have this precision, one for all models, or null: the device is in software.
inline std::shared_ptr<Device> device(Precision precision) {
  if (precision == Precision::fp32) return device();
#if !defined(CROCHET_BENCH_SOFTWARE_DEVICE)
  static std::shared_ptr<Device> others[2];
  std::shared_ptr<Device>& one = others[precision == Precision::tf32 ? 0 : 1];
  if (one == nullptr) {
    using crochet::MatmulPrecision;
    one = std::make_shared<Device>(0, precision == Precision::tf32 ? MatmulPrecision::tf32 : MatmulPrecision::bf16);
  }
  return one;
#else
  return nullptr;
#endif
}

/// Cuda{}'s options.
struct Launching {
  int steps = 32;  ///< the most runs of a launch
  crochet::CudaMode mode = crochet::CudaMode::steps_per_launch;
  std::shared_ptr<Device> on = device();
};

template <class Model>
auto executor_of(const Launching& launching) {
  return crochet::cuda::Executor<Device, Model>(
      launching.on, {.mode = launching.mode, .steps_per_launch = launching.steps, .seed = 1, .queue_seconds = 0.002});
}

/// Launches what is queued and waits for the device.
template <class E>
void finish(E& executor) {
  executor.flush();
  executor.device()->synchronize();
}

}  // namespace bench

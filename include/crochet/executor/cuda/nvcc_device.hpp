// SPDX-License-Identifier: Apache-2.0
// NvccDevice: a GPU whose plans nvcc compiles with the program.
#pragma once
#include <string>

#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/plan_kernel.hpp>
#include <crochet/executor/cuda/plan_number.hpp>

namespace crochet::cuda {

/// As GpuDevice; launches kernels that are part of the program. It runs operations of a user's program too: nvcc has
/// their code.
class NvccDevice : public GpuDevice {
 public:
  using GpuDevice::GpuDevice;
  static constexpr bool runs_own_operations = true;

#if !defined(__CUDACC__)
  static constexpr bool launches_here = false;
#else
  /// Queues runs of a plan. Code: PlanCode. Throws DeviceError if the program has no code for this GPU.
  template <class Code>
  void launch(const Launch& what) {
    start(kernel_of<plan_number(Code::source()), Code>(), what);
  }

 private:
  void start(const void* kernel, Launch what) {
    begin_launch(what);
    void* arguments[] = {&what};
    const cudaError_t code =
        cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks())), dim3(DeviceBlock::threads),
                                    static_cast<void**>(arguments), 0, static_cast<cudaStream_t>(stream(Stream::compute)));
    if (code == cudaSuccess) return end_launch(what);
    std::string reason = std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) + ")";
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
      reason += ". Compile the program for it: nvcc -arch=sm_" + std::to_string(architecture()) +
                ", CMake CUDA_ARCHITECTURES " + std::to_string(architecture());
    }
    fail("launch a plan", reason);
  }
#endif
};

}  // namespace crochet::cuda

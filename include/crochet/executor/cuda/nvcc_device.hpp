// SPDX-License-Identifier: Apache-2.0
// NvccDevice: a GPU whose plans nvcc compiles with the program.
#pragma once
#include <string>

#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/plan_kernel.hpp>
#include <crochet/executor/cuda/plan_number.hpp>

namespace crochet::cuda {

/// As GpuDevice; launches kernels that are part of the program, by the CUDA runtime in the driver's context and stream.
/// It runs operations of a user's program too: nvcc has their code.
class NvccDevice : public GpuDevice {
 public:
  static constexpr bool runs_own_operations = true;
  static constexpr bool has_graphs = false;

#if !defined(__CUDACC__)
  using GpuDevice::GpuDevice;
  static constexpr bool launches_here = false;
#else
  /// Throws DeviceError as GpuDevice does, if the precision is not fp32, and if the driver is too old for the program's
  /// CUDA runtime.
  explicit NvccDevice(int index = 0, MatmulPrecision precision = MatmulPrecision::fp32) : GpuDevice(index) {
    if (precision != MatmulPrecision::fp32) {
      throw DeviceError("crochet: NvccCuda has no products in tf32 or bf16; use Cuda, or MatmulPrecision::fp32");
    }
    const Here here(*this);
    // The runtime then keeps the context, with the program's kernels in it, beyond the life of this device.
    const cudaError_t code = cudaSetDevice(index);
    if (code != cudaSuccess) fail("start the CUDA runtime", text_of(code));
  }

  /// The plan is compiled with the program. Throws DeviceError if that has no code for this GPU.
  template <class Code>
  void prepare(const Tables&) {
    const Here here(*this);
    cudaFuncAttributes attributes;
    check_launch(cudaFuncGetAttributes(&attributes, kernel_of<plan_number(Code::source()), Code>()));
  }
  /// Queues runs of a plan. Code: PlanCode. Throws DeviceError if the program has no code for this GPU.
  template <class Code>
  void launch(Launch what) {
    const Here here(*this);
    const void* const kernel = kernel_of<plan_number(Code::source()), Code>();
    begin_launch(what);
    void* arguments[] = {&what};
    check_launch(cudaLaunchCooperativeKernel(kernel, grid(), dim3(DeviceBlock::threads), static_cast<void**>(arguments),
                                             0, queue(Stream::compute)));
    end_launch(what);
  }
  /// In Stream::copies: copies the rows of `count` feeds. `all` is memory of the device.
  void gather(const RowGather* all, int count) {
    const Here here(*this);
    void* arguments[] = {static_cast<void*>(&all), &count};
    check_launch(cudaLaunchKernel(reinterpret_cast<const void*>(&gather_kernel<DeviceBlock>), grid(),
                                  dim3(DeviceBlock::threads), static_cast<void**>(arguments), 0,
                                  queue(Stream::copies)));
  }

 private:
  dim3 grid() const { return dim3(static_cast<unsigned>(blocks())); }
  cudaStream_t queue(Stream which) const { return static_cast<cudaStream_t>(stream(which)); }
  static std::string text_of(cudaError_t code) {
    return std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) + ")";
  }
  void check_launch(cudaError_t code) const {
    if (code == cudaSuccess) return;
    std::string reason = text_of(code);
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
      const std::string number = std::to_string(architecture());
      reason += ". Compile the program for it: nvcc -arch=sm_" + number + ", CMake CUDA_ARCHITECTURES " + number;
    }
    fail("launch a kernel", reason);
  }
#endif
};

}  // namespace crochet::cuda

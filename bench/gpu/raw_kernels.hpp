// SPDX-License-Identifier: Apache-2.0
// The text of the kernels that are measured beside the executor's. The barrier is that of plans.
#pragma once

namespace bench {

inline constexpr const char* raw_kernels = R"(
#include <crochet/kernels/cuda/device_block.hpp>

extern "C" __global__ void empty() {}

extern "C" __global__ void __launch_bounds__(256, 1) grid_barriers(std::uint32_t* counters, int times) {
  crochet::cuda::DeviceBlock block(counters);
  for (int i = 0; i < times; ++i) block.grid_sync();
  block.finish();
}

// 16 independent chains a thread.
extern "C" __global__ void __launch_bounds__(256) multiply_add(float* out, float a, float b, int times) {
  float x[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  for (int i = 0; i < times; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = x[k] * a + b;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += x[k];
  if (sum == 0.5f) out[0] = sum;  // never: it keeps the chains
}

// Four words of 16 bytes a thread before the first is stored.
extern "C" __global__ void __launch_bounds__(256) copy(const float4* from, float4* to, long n) {
  const long stride = static_cast<long>(gridDim.x) * 256;
  for (long i = static_cast<long>(blockIdx.x) * 256 + threadIdx.x; i < n; i += 4 * stride) {
    float4 x[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * stride < n) x[k] = from[i + k * stride];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * stride < n) to[i + k * stride] = x[k];
    }
  }
}
)";

}  // namespace bench

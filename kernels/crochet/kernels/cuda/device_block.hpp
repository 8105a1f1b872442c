// SPDX-License-Identifier: Apache-2.0
// A thread block of a GPU (block.hpp). All blocks of the grid must be resident: the plan is launched cooperatively.
#pragma once
#include <crochet/kernels/cuda/block.hpp>
#include <crochet/kernels/cuda/device_instructions.hpp>
#include <crochet/kernels/cuda/grid_barrier.hpp>
#include <crochet/kernels/cuda/product_parts.hpp>

#if defined(__CUDACC__)

namespace crochet::cuda {

/// Precision: of products of floats. Below sm_80 it must be fp32. LargestTile: larger tiles of products are not
/// compiled.
template <MatmulPrecision Precision, int LargestTile = ProductParts::large_tile>
class DeviceBlockOf {
 public:
  static constexpr int threads = 256;
  static constexpr MatmulPrecision precision = Precision;
  static constexpr int largest_tile = LargestTile;

  CROCHET_DEVICE_INLINE explicit DeviceBlockOf(std::uint32_t* barrier) : barrier_(barrier) {}

  CROCHET_DEVICE_INLINE int thread() const { return static_cast<int>(threadIdx.x); }
  CROCHET_DEVICE_INLINE int block() const { return static_cast<int>(blockIdx.x); }
  CROCHET_DEVICE_INLINE int blocks() const { return static_cast<int>(gridDim.x); }
  CROCHET_DEVICE_INLINE void sync() { __syncthreads(); }

  CROCHET_DEVICE_INLINE void grid_sync() { wait_for_grid(barrier_); }
  /// At the end of a launch: the last block clears the counters.
  CROCHET_DEVICE void finish() {
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(barrier_ + 1, 1U) != gridDim.x - 1U) return;
    barrier_[0] = barrier_[1] = 0U;
  }

  CROCHET_DEVICE_INLINE static std::uint64_t timer() {
    std::uint64_t nanoseconds = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
    return nanoseconds;
  }

  template <class T>
  CROCHET_DEVICE_INLINE T shuffle_xor(T x, int mask) {
    return __shfl_xor_sync(0xffffffffU, x, mask);
  }
  template <class S>
  CROCHET_DEVICE_INLINE S& shared() {
    static_assert(sizeof(S) <= shared_bytes && alignof(S) <= 16);
    return *reinterpret_cast<S*>(shared_memory());
  }
  CROCHET_DEVICE_NOINLINE bool arrive(std::uint32_t* ticket, int count) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      last = atomicAdd(ticket, 1U) + 1U == static_cast<std::uint32_t>(count);
      if (last) *ticket = 0U;
    }
    __syncthreads();
    if (last) __threadfence();
    return last;
  }

  template <int Bytes>
  CROCHET_DEVICE_INLINE void copy_async(void* to, const void* from, bool exists) {
    detail::copy_async<Bytes>(to, from, exists);
  }
  CROCHET_DEVICE_INLINE void commit_copies() { detail::commit_copies(); }
  template <int N>
  CROCHET_DEVICE_INLINE void wait_copies() {
    detail::wait_copies<N>();
  }
  CROCHET_DEVICE_INLINE void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    detail::multiply_tf32(c, a, b);
  }
  CROCHET_DEVICE_INLINE void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    detail::multiply_bf16(c, a, b);
  }
  CROCHET_DEVICE_INLINE static std::uint32_t round_tf32(float x) { return detail::round_tf32(x); }
  CROCHET_DEVICE_INLINE static std::uint32_t round_bf16(float low, float high) { return detail::round_bf16(low, high); }

 private:
  /// One atomic addition a block; one thread of each block waits until all blocks of this round have arrived.
  CROCHET_DEVICE_NOINLINE static void wait_for_grid(std::uint32_t* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const std::uint32_t before = atomicAdd(barrier, GridBarrier::arrival(blockIdx.x, gridDim.x));
      while (!GridBarrier::is_over(before, load_acquire(barrier))) __nanosleep(20);
    }
    __syncthreads();
  }
  /// One piece of memory for all types.
  CROCHET_DEVICE_INLINE static unsigned char* shared_memory() {
    __shared__ alignas(16) unsigned char bytes[shared_bytes];
    return bytes;
  }
  CROCHET_DEVICE_INLINE static std::uint32_t load_acquire(const std::uint32_t* p) {
    std::uint32_t x = 0;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    return x;
  }

  std::uint32_t* barrier_;
};

using DeviceBlock = DeviceBlockOf<MatmulPrecision::fp32>;

}  // namespace crochet::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
// Instructions of a GPU that CUDA C++ has no expression for: asynchronous copies and products on tensor cores, both
// since sm_80. Before, a copy is a load and a store, and no plan has other products than fp32 (driver.ipp).
#pragma once
#include <crochet/kernels/cuda/block.hpp>

#if defined(__CUDACC__)

namespace crochet::cuda::detail {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

template <int Bytes>
CROCHET_DEVICE_INLINE void copy_async(void* to, const void* from, bool exists) {
  const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = exists ? Bytes : 0;  // the rest is zeros
  if constexpr (Bytes == 16) {           // not kept in the first cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(Bytes), "r"(bytes)
                 : "memory");
  }
}
CROCHET_DEVICE_INLINE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
CROCHET_DEVICE_INLINE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

CROCHET_DEVICE_INLINE void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
CROCHET_DEVICE_INLINE void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
CROCHET_DEVICE_INLINE std::uint32_t round_tf32(float x) {
  std::uint32_t bits = 0;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
CROCHET_DEVICE_INLINE std::uint32_t round_bf16(float low, float high) {
  std::uint32_t bits = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

#else

template <int Bytes>
CROCHET_DEVICE_INLINE void copy_async(void* to, const void* from, bool exists) {
  struct alignas(Bytes) Piece {
    std::uint32_t words[Bytes / 4];
  };
  *static_cast<Piece*>(to) = exists ? *static_cast<const Piece*>(from) : Piece{};
}
CROCHET_DEVICE_INLINE void commit_copies() {}
template <int N>
CROCHET_DEVICE_INLINE void wait_copies() {}

CROCHET_DEVICE_INLINE void multiply_tf32(float (&)[4], const std::uint32_t (&)[4], const std::uint32_t (&)[2]) {
  __trap();
}
CROCHET_DEVICE_INLINE void multiply_bf16(float (&)[4], const std::uint32_t (&)[4], const std::uint32_t (&)[2]) {
  __trap();
}
CROCHET_DEVICE_INLINE std::uint32_t round_tf32(float) { return 0; }
CROCHET_DEVICE_INLINE std::uint32_t round_bf16(float, float) { return 0; }

#endif

}  // namespace crochet::cuda::detail

#endif

// SPDX-License-Identifier: Apache-2.0
// The interface of a thread block, against which every kernel here is written. Three classes implement it: DeviceBlock
// (device_block.hpp) on a GPU, and two on the host for tests, by fibers and by threads. A Block has
// - `threads`, a static constant: the threads of a block, a multiple of 32; `thread()`: the index of this one;
// - `block()`, `blocks()`: the index of the block and the number of blocks, all of which run at the same time;
// - `sync()`: a barrier of the block; `grid_sync()`: a barrier of all blocks. All threads must reach the same one;
// - `shuffle_xor(x, mask)`: the x of the thread whose index differs by `mask` (< 32). All 32 threads of a warp call it;
// - `shared<S>()`: the block's shared memory as an S&. Its contents are undefined at the start of a step;
// - `arrive(ticket, count)`: counts one arrival of the block, after its writes; true in all threads of the block that
//   is the last of `count`. The writes of all others are then visible to that block. The counter is zero again
//   afterwards;
// - `timer()`: nanoseconds of the device's clock, which all blocks share;
// - `precision`, a static constant: the MatmulPrecision of products of floats;
// - `largest_tile`, a static constant: no product has larger tiles (product_parts.hpp);
// - asynchronous copies: `copy_async<Bytes>(to, from, exists)` copies 4, 8 or 16 aligned bytes to shared memory, or
//   zeros if not `exists`. `commit_copies()` makes a group of this thread's copies since the last one.
//   `wait_copies<N>()` waits until all of this thread's groups but the last N are complete; other threads read them
//   behind a barrier. Neither `from` nor `to` may be written in between;
// - products on tensor cores, c += a b, with float accumulation. All 32 threads of a warp call them.
//   `multiply_tf32(c, a, b)`: 16 x 8 times 8 x 8; `multiply_bf16(c, a, b)`: 16 x 16 times 16 x 8. A word is one tf32
//   number, round_tf32(x), or two of neighbouring depth in bf16, round_bf16(first, second). So both have operands of 8
//   words of depth, which are distributed over the warp as mma.sync defines it: the thread of lane l, with g = l / 4, t
//   = l % 4, has
//     a[0], a[1]: word t of rows g and g + 8; a[2], a[3]: word t + 4 of them; b[0], b[1]: words t and t + 4 of column
//     g; c[0], c[1]: columns 2 t and 2 t + 1 of row g; c[2], c[3]: of row g + 8.
#pragma once
#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/kernels/cuda/precision.hpp>
#include <crochet/kernels/cuda/table.hpp>

#if defined(__CUDACC__)
#define CROCHET_DEVICE __device__
#define CROCHET_DEVICE_INLINE __device__ __forceinline__
#define CROCHET_DEVICE_NOINLINE __device__ __noinline__
#define CROCHET_PRAGMA(text) _Pragma(#text)
#define CROCHET_DEVICE_UNROLL(n) CROCHET_PRAGMA(unroll n)
#else
#define CROCHET_DEVICE
#define CROCHET_DEVICE_INLINE inline
#define CROCHET_DEVICE_NOINLINE
#define CROCHET_DEVICE_UNROLL(n)
#endif

namespace crochet::cuda {

inline constexpr int warp_size = 32;

/// The bytes of shared memory that a kernel may use.
inline constexpr int shared_bytes = 40 << 10;

/// The place of this block among those that share a step's work, if block `first` is the first.
template <class Block>
CROCHET_DEVICE_INLINE int place_of(const Block& block, int first) {
  const int at = block.block() - first;
  return at < 0 ? at + block.blocks() : at;
}

/// Calls f(u) for this block's units of [0, units). The first unit goes to block `first`, so that steps that run at the
/// same time begin with different blocks.
template <class Block, class F>
CROCHET_DEVICE_INLINE void each_unit(const Block& block, int first, int units, F f) {
  CROCHET_DEVICE_UNROLL(1)
  for (int at = place_of(block, first); at < units; at += block.blocks()) f(at);
}

/// Calls f(i) for this thread's elements of [0, n). Neighbouring threads have neighbouring elements.
template <class Block, class F>
CROCHET_DEVICE_INLINE void each_element(const Block& block, int first, int n, F f) {
  constexpr int threads = Block::threads;
  each_unit(block, first, (n - 1) / threads + 1, [&](int unit) {
    const std::int64_t i = static_cast<std::int64_t>(unit) * threads + block.thread();
    if (i < n) f(static_cast<int>(i));
  });
}

/// Calls f(row) for this warp's rows of [0, rows), in all of the warp's threads.
template <class Block, class F>
CROCHET_DEVICE_INLINE void each_warp(const Block& block, int first, int rows, F f) {
  constexpr int warps = Block::threads / warp_size;
  each_unit(block, first, (rows - 1) / warps + 1, [&](int unit) {
    const int row = unit * warps + block.thread() / warp_size;
    if (row < rows) f(row);
  });
}

}  // namespace crochet::cuda

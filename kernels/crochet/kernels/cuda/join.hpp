// SPDX-License-Identifier: Apache-2.0
// Joins the values of the threads of a warp or of a block, in the same order on every device.
#pragma once
#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// Joins a value of every thread of a warp, in the same order on every device. All threads get the result.
template <class How, class Block, class T>
CROCHET_DEVICE_INLINE T join_warp(Block& block, T x) {
  CROCHET_DEVICE_UNROLL(1)
  for (int mask = warp_size / 2; mask > 0; mask /= 2) x = How::join(x, block.shuffle_xor(x, mask));
  return x;
}

/// Joins a value of every thread of a block. All threads get the result. Uses shared memory.
template <class How, class Block, class T>
CROCHET_DEVICE_NOINLINE T join_block(Block& block, T x) {
  constexpr int warps = Block::threads / warp_size;
  struct Parts {
    T of[warps];
  };
  Parts& parts = block.template shared<Parts>();
  x = join_warp<How>(block, x);
  block.sync();
  if (block.thread() % warp_size == 0) parts.of[block.thread() / warp_size] = x;
  block.sync();
  x = parts.of[0];
  CROCHET_DEVICE_UNROLL(1)
  for (int w = 1; w < warps; ++w) x = How::join(x, parts.of[w]);
  return x;
}

/// Joins numbers in memory, which each thread takes every `threads`-th of. All threads get the result.
template <class How, class Block, class Total>
CROCHET_DEVICE_NOINLINE Total join_all(Block& block, const Total* all, int count) {
  Total total = How::template nothing<Total>;
  CROCHET_DEVICE_UNROLL(1)
  for (int k = block.thread(); k < count; k += Block::threads) total = How::join(total, all[k]);
  return join_block<How>(block, total);
}

/// Joins the threads of a block that have the same lane. The threads of the first warp get the results.
template <class How, class Block, class Total>
CROCHET_DEVICE_NOINLINE Total join_lanes_of_warps(Block& block, Total mine) {
  struct Parts {
    Total of[Block::threads];
  };
  Parts& shared = block.template shared<Parts>();
  block.sync();
  shared.of[block.thread()] = mine;
  block.sync();
  Total all = shared.of[block.thread() % warp_size];
  CROCHET_DEVICE_UNROLL(1)
  for (int w = warp_size; w < Block::threads; w += warp_size) {
    all = How::join(all, shared.of[w + block.thread() % warp_size]);
  }
  return all;
}

}  // namespace crochet::cuda

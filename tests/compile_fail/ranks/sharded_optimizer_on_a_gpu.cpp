// SPDX-License-Identifier: Apache-2.0
// expect-error: ShardedOptimizer is for Cpu
// A GPU does not divide the state of the optimizer.
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda.hpp>

#include "alone.hpp"

auto compile(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  return cr::Parallel{cr::Cpu{}, rank, cr::ShardedOptimizer<2>{}}.compile<Model>();
#else
  return cr::Parallel{cr::Cuda{}, rank, cr::ShardedOptimizer<2>{}}.compile<Model>();
#endif
}

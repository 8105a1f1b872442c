// SPDX-License-Identifier: Apache-2.0
// expect-error: ParallelOptions::shards is for Cpu: a GPU's sums have an order of their own
// Fixed shards have the same bits on any number of ranks, which no GPU promises.
#include <crochet/executor/cuda.hpp>

#include "alone.hpp"

auto compile(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  return cr::Parallel{cr::Cuda{}, rank}.compile<Model>();
#else
  return cr::Parallel{cr::Cuda{}, rank, {.shards = 8}}.compile<Model>();
#endif
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: ShardedOptimizer<N> needs N ranks, and Solo is one
// Half of the optimizer's state, and no rank that has the other half.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

auto compile() {
#ifdef CROCHET_FIXED
  return cr::Parallel{cr::Cpu{}, cr::Solo{}}.compile<Model>();
#else
  return cr::Parallel{cr::Cpu{}, cr::Solo{}, cr::ShardedOptimizer<2>{}}.compile<Model>();
#endif
}

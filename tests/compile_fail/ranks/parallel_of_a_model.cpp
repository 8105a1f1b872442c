// SPDX-License-Identifier: Apache-2.0
// expect-error: Parallel takes a device, Cpu.* for example, or a StepExecutor
// A model in place of the device that compiles it.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

auto compile(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  return cr::Parallel{cr::Cpu{}, rank}.compile<Model>();
#else
  return cr::Parallel{Model{}, rank}.compile<Model>();
#endif
}

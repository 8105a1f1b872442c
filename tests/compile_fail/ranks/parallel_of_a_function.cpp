// SPDX-License-Identifier: Apache-2.0
// expect-error: Parallel takes a device, Cpu.* for example, or a StepExecutor; make a StepExecutor of a step function
// A step function alone has no outputs, inputs and variables.
#include <crochet/crochet.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

void simulate(crochet::testing::ThreadRank rank) {
  const auto advance = [](auto&) {};
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{crochet::Parallel{crochet::StepExecutor{advance}, rank}};
#else
  crochet::MonitoredSession session{crochet::Parallel{advance, rank}};
#endif
  session.run();
}

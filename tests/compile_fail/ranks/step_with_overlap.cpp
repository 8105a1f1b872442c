// SPDX-License-Identifier: Apache-2.0
// expect-error: the options of Parallel are for models; a StepExecutor exchanges by itself: leave them out
// A step function has no gradients whose exchange could overlap with it.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

void simulate(crochet::testing::ThreadRank rank) {
  crochet::StepExecutor step{[](auto&) {}};
  crochet::HookChain chain{crochet::StopAtStep{.last_step = 3}};
#ifdef CROCHET_FIXED
  crochet::run(crochet::Parallel{step, rank}, chain);
#else
  crochet::run(crochet::Parallel{step, rank, crochet::OverlappedExchange{}}, chain);
#endif
}

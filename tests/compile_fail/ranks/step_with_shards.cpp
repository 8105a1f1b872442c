// SPDX-License-Identifier: Apache-2.0
// expect-error: the options of Parallel are for models; a StepExecutor exchanges by itself: leave them out
// Fixed shards are a division of the batches of a model.
#include <crochet/crochet.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

void simulate(crochet::testing::ThreadRank rank) {
  crochet::StepExecutor step{[](auto&) {}};
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{crochet::Parallel{step, rank}};
#else
  crochet::MonitoredSession session{crochet::Parallel{step, rank, {.shards = 8}}};
#endif
  session.run();
}

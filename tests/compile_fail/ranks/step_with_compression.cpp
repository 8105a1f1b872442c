// SPDX-License-Identifier: Apache-2.0
// expect-error: the options of Parallel are for models; a StepExecutor exchanges by itself: leave them out
// A step function has no gradients that could be compressed.
#include <crochet/crochet.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

void simulate(crochet::testing::ThreadRank rank) {
  crochet::StepExecutor step{[](auto&) {}};
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{crochet::Parallel{step, rank}};
#else
  using crochet::BlockingExchange, crochet::Compression;
  crochet::MonitoredSession session{
      crochet::Parallel{step, rank, BlockingExchange{.compression = Compression::bfloat16}}};
#endif
  session.run();
}

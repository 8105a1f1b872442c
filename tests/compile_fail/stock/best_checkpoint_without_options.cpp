// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint does not state whether low or high values are better: it has no options.
// expect-error: set .aim: Aim::lowest (for a loss, )?or Aim::highest
#include <crochet/hooks/best_checkpoint.hpp>

#include "../hooks/toy.hpp"
#include "toy_saver.hpp"

void train() {
  const crochet::MetricChannel metrics;
#ifdef CROCHET_FIXED
  crochet::BestCheckpoint best{ToySaver{}, metrics, "loss", {.aim = crochet::Aim::lowest}};
#else
  crochet::BestCheckpoint best{ToySaver{}, metrics, "loss"};
#endif
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, best, best.restore_at_end()}};
  session.run(crochet::targets<"train">);
}

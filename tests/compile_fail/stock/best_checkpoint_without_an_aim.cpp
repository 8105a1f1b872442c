// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint does not state whether low or high values are better: its options lack the aim.
// expect-error: set .aim: Aim::lowest (for a loss, )?or Aim::highest
// expect-error: best_checkpoint_without_an_aim.cpp:1[0-9]
#include <crochet/hooks/best_checkpoint.hpp>

#include "../hooks/toy.hpp"
#include "toy_saver.hpp"

void train() {
  const crochet::MetricChannel metrics;
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{
      Toy{}, crochet::HookChain{Counter{},
                                crochet::BestCheckpoint{ToySaver{}, metrics, "loss", {.aim = crochet::Aim::lowest}}}};
#else
  crochet::MonitoredSession session{
      Toy{}, crochet::HookChain{Counter{}, crochet::BestCheckpoint{ToySaver{}, metrics, "loss", {.keep = 3}}}};
#endif
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// The saver would save the restored, older weights as the newest checkpoint.
// expect-error: is_listed_before_a_hook_that_must_come_first<crochet::RestoreBest<ToySaver>, crochet::CheckpointSaver<ToySaver>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>

#include "../hooks/toy.hpp"
#include "toy_saver.hpp"

void train() {
  const crochet::MetricChannel metrics;
  crochet::BestCheckpoint best{ToySaver{}, metrics, "loss", {.aim = crochet::Aim::lowest}};
  crochet::CheckpointSaver saver{ToySaver{}, {.save_steps = 10}};
#ifdef CROCHET_FIXED
  crochet::HookChain chain{best, saver, best.restore_at_end()};
#else
  crochet::HookChain chain{best, best.restore_at_end(), saver};
#endif
  crochet::MonitoredSession session{Toy{}, std::move(chain)};
  session.run(crochet::targets<"train">);
}

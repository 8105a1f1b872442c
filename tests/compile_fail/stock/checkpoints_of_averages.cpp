// SPDX-License-Identifier: Apache-2.0
// A training would continue from averaged weights.
// expect-error: CheckpointSaver takes a Saver or an AsyncSaver; an AveragedSaver is for BestCheckpoint
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/moving_average.hpp>

#include "../hooks/toy.hpp"
#include "toy_saver.hpp"

void train() {
  const crochet::WeightAverages averages;
#ifdef CROCHET_FIXED
  crochet::CheckpointSaver saver{ToySaver{}, {.save_steps = 10}};
#else
  crochet::CheckpointSaver saver{crochet::AveragedSaver{ToySaver{}, averages}, {.save_steps = 10}};
#endif
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{std::move(saver)}};
  session.run(crochet::targets<"train">);
}

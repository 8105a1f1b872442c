// SPDX-License-Identifier: Apache-2.0
// ReduceOnPlateau does not state whether low or high values are better.
// expect-error: set .aim: Aim::lowest for a loss, or Aim::highest for an accuracy
#include <crochet/hooks/reduce_on_plateau.hpp>

#include "../hooks/toy.hpp"

void train() {
#ifdef CROCHET_FIXED
  constexpr crochet::PlateauRate rule{.aim = crochet::Aim::lowest, .rate = 0.1};
#else
  constexpr crochet::PlateauRate rule{.rate = 0.1};
#endif
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{crochet::ReduceOnPlateau<"loss", "rate">{.rule = rule}}};
  session.run(crochet::targets<"train">);
}

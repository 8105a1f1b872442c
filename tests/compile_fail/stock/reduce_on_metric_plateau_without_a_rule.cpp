// SPDX-License-Identifier: Apache-2.0
// ReduceOnMetricPlateau does not state whether low or high values are better: it has no rule.
// expect-error: set .aim: Aim::lowest for a loss, or Aim::highest for an accuracy
#include <crochet/hooks/reduce_on_plateau.hpp>

#include "../hooks/toy.hpp"

void train() {
  const crochet::MetricChannel metrics;
#ifdef CROCHET_FIXED
  crochet::ReduceOnMetricPlateau<"rate"> reduce{
      .metrics = metrics, .metric = "accuracy", .rule = {.aim = crochet::Aim::highest}};
#else
  crochet::ReduceOnMetricPlateau<"rate"> reduce{.metrics = metrics, .metric = "accuracy"};
#endif
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{reduce}};
  session.run(crochet::targets<"train">);
}

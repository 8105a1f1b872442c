// SPDX-License-Identifier: Apache-2.0
// A hook that acts on a metric is listed before the evaluation that publishes it, so it would act one run late.
// expect-error: hook_is_usable<1, crochet::error::is_listed_before_a_hook_that_must_come_first<
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/stop_if.hpp>

#include <vector>

#include "../hooks/toy.hpp"

void train() {
  const crochet::MetricChannel metrics;
  auto stop = crochet::stop_if_no_increase(metrics, "accuracy", 1000);
  crochet::Evaluate evaluate{crochet::fetches<"accuracy">,
                             std::vector{crochet::feeds(crochet::feed<"rate">(0.1f))},
                             {.every_steps = 100, .then = metrics}};
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, evaluate, stop}};
#else
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, stop, evaluate}};
#endif
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::extends_the_graph_of_an_executor_that_has_none<WeightNorm
// expect-error: extension_of_a_step_function.cpp:2[0-9]
// A step function has no graph.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/model.hpp>
namespace cr = crochet;

struct WeightNorm {
  static constexpr void extend_graph(cr::GraphBuilder& g) { g.name("norm", reduce_sum(g["hidden/kernel"])); }
  void after_run(auto&, const auto&) {}
};

void train(double& x) {
  const cr::StopAtStep stop{.last_step = 500};
  cr::StepExecutor step{[&](auto& /*out*/) { x *= 0.5; }};
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{step, cr::HookChain{stop}};
#else
  cr::MonitoredSession session{step, cr::HookChain{stop, WeightNorm{}}};
#endif
  while (!session.should_stop()) session.run();
}

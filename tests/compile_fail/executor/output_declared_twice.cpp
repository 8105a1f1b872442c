// SPDX-License-Identifier: Apache-2.0
// expect-error: a_step_function_declares_this_name_twice<
// Two outputs of a step function with the same name.
#include <crochet/crochet.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
namespace cr = crochet;
using namespace cr::literals;

int main() {
  double energy = 1;
#ifdef CROCHET_FIXED
  cr::StepExecutor step{[&](auto& out) { out["energy"_n] = energy; }, cr::output<double, "energy">,
                        cr::output<double, "drift">};
#else
  cr::StepExecutor step{[&](auto& out) { out["energy"_n] = energy; }, cr::output<double, "energy">,
                        cr::output<double, "energy">};
#endif
  cr::MonitoredSession session{
      step, cr::HookChain{cr::StopAtStep{.last_step = 10}, cr::LoggingTensor<"energy">{.every_steps = 5}}};
  while (!session.should_stop()) session.run();
}

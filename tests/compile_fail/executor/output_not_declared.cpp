// SPDX-License-Identifier: Apache-2.0
// expect-error: a_step_function_does_not_declare_this_output<
// expect-error: did_you_mean
// expect-error: output_not_declared.cpp:1[0-9]
// A step function sets an output that it does not declare.
#include <crochet/crochet.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
namespace cr = crochet;
using namespace cr::literals;

int main() {
  double energy = 1;
#ifdef CROCHET_FIXED
  cr::StepExecutor step{[&](auto& out) { out["energy"_n] = energy; }, cr::output<double, "energy">};
#else
  cr::StepExecutor step{[&](auto& out) { out["enrgy"_n] = energy; }, cr::output<double, "energy">};
#endif
  cr::MonitoredSession session{
      step, cr::HookChain{cr::StopAtStep{.last_step = 10}, cr::LoggingTensor<"energy">{.every_steps = 5}}};
  while (!session.should_stop()) session.run();
}

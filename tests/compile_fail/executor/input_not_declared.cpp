// SPDX-License-Identifier: Apache-2.0
// expect-error: a_step_function_does_not_declare_this_input<
// expect-error: did_you_mean
// expect-error: input_not_declared.cpp:1[0-9]
// A step function reads an input that it does not declare.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
namespace cr = crochet;
using namespace cr::literals;

int main() {
  double energy = 1;
#ifdef CROCHET_FIXED
  cr::StepExecutor step{[&](auto& out) { energy *= out.input("decay"_n, 0.9); }, cr::input<double, "decay">};
#else
  cr::StepExecutor step{[&](auto& out) { energy *= out.input("deacy"_n, 0.9); }, cr::input<double, "decay">};
#endif
  cr::MonitoredSession session{step, cr::HookChain{cr::StopAtStep{.last_step = 10}}};
  while (!session.should_stop()) session.run();
}

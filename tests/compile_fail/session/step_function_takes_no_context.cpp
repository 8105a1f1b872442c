// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::the_step_function_does_not_take_one_step_context<
// A step function takes exactly one argument, a StepContext.
#include "../hooks/toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  session.run_step_fn([](auto& context) { context.run_with_hooks("train"_n); });
#else
  session.run_step_fn([](auto& context, int) { context.run_with_hooks("train"_n); });
#endif
  session.close();
}

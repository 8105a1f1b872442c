// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_is_no_executor<
// expect-error: lambda_for_an_executor.cpp:1[0-9]
// A step function must be wrapped in a StepExecutor.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
namespace cr = crochet;

void train(double& x) {
  const auto step = [&](auto& /*out*/) { x *= 0.5; };
#ifdef CROCHET_FIXED
  cr::run(cr::StepExecutor{step}, cr::HookChain{cr::StopAtStep{.last_step = 500}});
#else
  cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 500}});
#endif
}

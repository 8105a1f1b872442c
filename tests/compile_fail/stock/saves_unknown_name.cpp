// SPDX-License-Identifier: Apache-2.0
// A SummarySaver of a value that the model does not name.
// expect-error: SummarySaver
// expect-error: fetches_a_name_that_is_not_in_the_graph
// expect-error: did_you_mean
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/summary_saver.hpp>

namespace cr = crochet;
using namespace cr::literals;

int main() {
  cr::StepExecutor step{[](auto& out) { out["loss"_n] = 1.0F; }, cr::output<float, "loss">};
#ifdef CROCHET_FIXED
  using Loss = cr::summary::Scalar<"loss">;
#else
  using Loss = cr::summary::Scalar<"lost">;
#endif
  cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 1}, cr::SummarySaver<Loss>{.every_steps = 1}});
}

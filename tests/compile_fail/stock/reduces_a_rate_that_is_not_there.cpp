// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::feeds_a_name_that_is_not_a_placeholder<
// ReduceOnPlateau controls a rate that is neither a placeholder nor a variable of the executor.
#include <crochet/hooks/reduce_on_plateau.hpp>

#include "../hooks/toy.hpp"

#ifdef CROCHET_FIXED
using Reduce = crochet::ReduceOnPlateau<"loss", "rate">;
#else
using Reduce = crochet::ReduceOnPlateau<"loss", "learning_rate">;
#endif

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Reduce{.rule = {.aim = crochet::Aim::lowest}, .every_steps = 100}}};
  session.run(crochet::targets<"train">);
}

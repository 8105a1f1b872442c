// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::fetches_a_name_that_is_not_in_the_graph<crochet::LoggingTensor<
// expect-error: did_you_mean
// A stock hook logs a value that the executor does not compute.
#include <crochet/hooks/logging_tensor.hpp>

#include "../hooks/toy.hpp"

#ifdef CROCHET_FIXED
using Log = crochet::LoggingTensor<"loss">;
#else
using Log = crochet::LoggingTensor<"lose">;
#endif

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Log{.every_steps = 100}}};
  session.run(crochet::targets<"train">);
}

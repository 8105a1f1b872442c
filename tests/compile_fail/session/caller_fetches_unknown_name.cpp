// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::fetches_a_name_that_is_not_in_the_graph<crochet::error::the_caller, .*("lose"|'l', 'o', 's', 'e')
// "lose" in the user's own call.
#include "../hooks/toy.hpp"

float train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  auto [loss] = session.run(crochet::fetches<"loss">, crochet::targets<"train">);
#else
  auto [loss] = session.run(crochet::fetches<"lose">, crochet::targets<"train">);
#endif
  return loss;
}

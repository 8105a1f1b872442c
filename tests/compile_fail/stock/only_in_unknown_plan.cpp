// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::belongs_to_a_plan_that_is_not_in_the_graph<
// expect-error: did_you_mean
// A hook for the runs of an unknown plan, inside another decorator.
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/only_in.hpp>

#include "../hooks/toy.hpp"

#ifdef CROCHET_FIXED
using Counts = crochet::EveryN<10, crochet::OnlyIn<"train", Counter>>;
#else
using Counts = crochet::EveryN<10, crochet::OnlyIn<"trian", Counter>>;
#endif

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counts{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::runs_a_target_that_is_not_in_the_graph<crochet::error::the_caller, 
// expect-error: did_you_mean
// "tarin".
#include "../hooks/toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  session.run("train"_n);
#else
  session.run("tarin"_n);
#endif
}

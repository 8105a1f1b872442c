// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::fetches_a_name_that_is_not_in_the_graph<crochet::error::the_caller, .*("lose"|'l', 'o', 's', 'e')
// The unknown name is in a side run of a hook.
#include "../hooks/toy.hpp"

struct FinalLoss {
  void end(auto& session) {
#ifdef CROCHET_FIXED
    auto [loss] = session.run(crochet::fetches<"loss">);
#else
    auto [loss] = session.run(crochet::fetches<"lose">);
#endif
    last = loss;
  }
  float last = 0;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{FinalLoss{}}};
  session.run("train"_n);
  session.close();
}

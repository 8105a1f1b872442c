// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::belongs_to_a_plan_that_is_not_in_the_graph<TrainLog, 
// expect-error: did_you_mean
// A hook for the plan "trian".
#include "toy.hpp"

struct TrainLog {
#ifdef CROCHET_FIXED
  using plans = crochet::Names<crochet::Name<"train">>;
#else
  using plans = crochet::Names<crochet::Name<"trian">>;
#endif
  void after_run(auto&, const auto&) {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{TrainLog{}}};
  session.run(crochet::targets<"train">);
}

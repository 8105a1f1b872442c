// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<2, crochet::error::feeds_a_name_that_another_hook_feeds_too<WarmUp, Schedule, 
// Two hooks feed different values for the rate.
#include "toy.hpp"

struct Schedule {
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.1f)}; }
};
struct WarmUp {
#ifdef CROCHET_FIXED
  void before_run(auto&) {}
#else
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.01f)}; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Schedule{}, Counter{}, WarmUp{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::the_caller_feeds_a_name_that_this_hook_feeds<Schedule, 
// The hook and the caller both feed the rate.
#include "toy.hpp"

struct Schedule {
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.1f)}; }
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Schedule{}}};
#ifdef CROCHET_FIXED
  session.run(crochet::targets<"train">);
#else
  session.run(crochet::targets<"train">, crochet::feed<"rate">(0.1f));
#endif
}

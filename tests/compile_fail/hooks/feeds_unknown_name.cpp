// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::feeds_a_name_that_is_not_a_placeholder<Schedule, 
// expect-error: did_you_mean
// "rates".
#include "toy.hpp"

struct Schedule {
#ifdef CROCHET_FIXED
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.1f)}; }
#else
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rates">(0.1f)}; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Schedule{}}};
  session.run(crochet::targets<"train">);
}

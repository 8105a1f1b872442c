// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::feeds_a_value_of_the_wrong_type<Schedule, .*crochet::error::given<double>, crochet::error::wanted<float>
// A double for a float.
#include "toy.hpp"

struct Schedule {
#ifdef CROCHET_FIXED
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.1f)}; }
#else
  auto before_run(auto&) { return crochet::RunArgs{crochet::feed<"rate">(0.1)}; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Schedule{}}};
  session.run(crochet::targets<"train">);
}

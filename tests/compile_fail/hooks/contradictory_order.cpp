// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::is_listed_before_a_hook_that_must_come_first<Report, Measure
// Report must come after Measure, but is listed before it.
#include "toy.hpp"

struct Measure {
  void after_run(auto&, const auto&) {}
};
struct Report {
  using after = crochet::Hooks<Measure>;
  void after_run(auto&, const auto&) {}
};

void train() {
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Measure{}, Report{}}};
#else
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Report{}, Measure{}}};
#endif
  session.run(crochet::targets<"train">);
}

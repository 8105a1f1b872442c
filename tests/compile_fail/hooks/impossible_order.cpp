// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::must_come_both_before_and_after<Measure, Report
// Each of the two must come after the other.
#include "toy.hpp"

struct Report;
struct Measure {
#ifndef CROCHET_FIXED
  using after = crochet::Hooks<Report>;
#endif
  void after_run(auto&, const auto&) {}
};
struct Report {
  using after = crochet::Hooks<Measure>;
  void after_run(auto&, const auto&) {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Measure{}, Report{}}};
  session.run(crochet::targets<"train">);
}

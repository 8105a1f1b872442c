// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::is_final_or_a_union_and_does_not_list_its_phases<Plateau>
// A union with an after_run that the session cannot call.
#include "toy.hpp"

union Plateau {
#ifdef CROCHET_FIXED
  using handles = crochet::Phases<crochet::phase::begin, crochet::phase::after_run>;
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
  void begin() {}
  int runs = 0;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::handles_this_phase_but_does_not_list_it<Plateau, crochet::phase::begin
// `handles` does not list begin.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  using handles = crochet::Phases<crochet::phase::begin, crochet::phase::after_run>;
#else
  using handles = crochet::Phases<crochet::phase::after_run>;
#endif
  void begin() {}
  void after_run(auto& run, const auto&) { run.request_stop(); }
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run(crochet::targets<"train">);
}

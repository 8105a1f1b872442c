// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::lists_this_phase_but_does_not_handle_it<Plateau, crochet::phase::end
// `handles` lists end; the member has another name, too different for the table of misspellings.
#include "toy.hpp"

struct Plateau {
  using handles = crochet::Phases<crochet::phase::after_run, crochet::phase::end>;
  void after_run(auto& run, const auto&) { run.request_stop(); }
#ifdef CROCHET_FIXED
  void end(auto&) {}
#else
  void finish(auto&) {}
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::after_run
// after_run without its second parameter.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

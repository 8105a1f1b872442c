// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::begin
// A private phase, which the session cannot call.
#include "toy.hpp"

class Plateau {
#ifdef CROCHET_FIXED
 public:
#endif
  void begin() {}

 public:
  void after_run(auto& run, const auto&) { run.request_stop(); }
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run(crochet::targets<"train">);
}

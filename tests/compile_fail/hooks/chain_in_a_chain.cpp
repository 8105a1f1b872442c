// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<2, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::after_run, crochet::error::called_as<void ?\((crochet::error::)?any_run ?&, const (crochet::error::)?any_values ?&\)>
// The hooks of a nested chain belong to the outer one, at the next positions. The message shows the expected call.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};
struct Begins {
  void begin() {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, crochet::HookChain{Begins{}, crochet::HookChain{Plateau{}}}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::has_this_member_but_the_session_cannot_call_it<Quietly<Plateau>, crochet::phase::after_run
// The mistake is in the decorator: the hook inside it handles after_run, and would not be called.
#include "toy.hpp"

template <class H>
struct Quietly {
  using decorates = H;
  void begin()
    requires crochet::phase::begin::handled<H>
  {
    hook.begin();
  }
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto& values) { hook.after_run(run, values); }
#else
  void after_run(auto& run) { hook.after_run(run, 0); }
#endif
  H hook;
};
struct Plateau {
  void begin() {}
  void after_run(auto& run, const auto&) { run.request_stop(); }
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Quietly<Plateau>{}}};
  session.run(crochet::targets<"train">);
}

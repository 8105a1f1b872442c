// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::after_run
// The mistake is in the hook inside the decorator; the error names that hook.
#include "toy.hpp"

template <class H>
struct Quietly {
  using decorates = H;
  void begin()
    requires crochet::phase::begin::handled<H>
  {
    hook.begin();
  }
  void after_run(auto& run, const auto& values)
    requires requires(H& inner) { inner.after_run(run, values); }
  {
    hook.after_run(run, values);
  }
  H hook;
};
struct Plateau {
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Quietly<Plateau>{}}};
  session.run(crochet::targets<"train">);
}

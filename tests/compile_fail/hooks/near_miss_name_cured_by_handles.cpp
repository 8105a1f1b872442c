// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::has_a_member_spelt_almost_like_this_phase<Log, crochet::phase::on_error
// A member that is deliberately called onerror: permitted in a hook that lists its phases.
#include "toy.hpp"

struct Log {
#ifdef CROCHET_FIXED
  using handles = crochet::Phases<crochet::phase::after_run>;
#endif
  void after_run(auto&, const auto&) { onerror(0); }
  void onerror(int) {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Log{}}};
  session.run(crochet::targets<"train">);
}

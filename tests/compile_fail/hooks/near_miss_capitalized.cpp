// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_a_member_spelt_almost_like_this_phase<Plateau, crochet::phase::end, .*("End"|'E', 'n', 'd')
// End, in addition to a correct phase.
#include "toy.hpp"

struct Plateau {
  void after_run(auto& run, const auto&) { run.request_stop(); }
#ifdef CROCHET_FIXED
  void end(auto&) {}
#else
  void End(auto&) {}
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

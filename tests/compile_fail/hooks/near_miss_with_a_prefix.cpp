// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_a_member_spelt_almost_like_this_phase<Plateau, crochet::phase::before_run, .*("on_before_run"|'o', 'n', '_', 'b')
// on_before_run, in addition to a correct phase.
#include "toy.hpp"

struct Plateau {
  void begin() {}
#ifdef CROCHET_FIXED
  void before_run(auto& run) { run.request_stop(); }
#else
  void on_before_run(auto& run) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_a_member_spelt_almost_like_this_phase<Plateau, crochet::phase::after_run
// after_rum.
#include "toy.hpp"

struct Plateau {
  void begin() {}
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_rum(auto& run, const auto&) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

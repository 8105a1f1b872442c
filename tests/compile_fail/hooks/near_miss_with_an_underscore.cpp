// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_a_member_spelt_almost_like_this_phase<Plateau, crochet::phase::after_run, .*("after_run_"|'a', 'f', 't', 'e', 'r', '_', 'r', 'u', 'n', '_')
// after_run_ as a callable member. A data member of that name is not a misspelt phase.
#include "toy.hpp"

struct Plateau {
  void begin() {}
#ifdef CROCHET_FIXED
  bool after_run_ = false;
#else
  void after_run_(auto& run, const auto&) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

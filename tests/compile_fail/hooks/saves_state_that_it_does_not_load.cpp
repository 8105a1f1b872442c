// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_save_state_but_no_load_state<Plateau>
// save_state without load_state.
#include "toy.hpp"

struct Plateau {
  void save_state(auto& out) const { out.put("runs", runs); }
#ifdef CROCHET_FIXED
  void load_state(auto& in) { in.get("runs", runs); }
#endif
  void after_run(auto&, const auto&) { ++runs; }
  int runs = 0;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::has_load_state_but_no_save_state<Plateau>
// load_state without save_state.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  void save_state(auto& out) const { out.put("runs", runs); }
#endif
  void load_state(auto& in) { in.get("runs", runs); }
  void after_run(auto&, const auto&) { ++runs; }
  int runs = 0;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

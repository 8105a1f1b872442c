// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::handles_no_phase_at_all<Plateau
// A hook without any phase.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  void end(auto&) {}
#endif
  int patience = 3;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::returns_the_wrong_type<Plateau, crochet::phase::before_run, crochet::Fetches<
// before_run returns names instead of RunArgs.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  auto before_run(auto&) { return crochet::RunArgs{crochet::fetches<"loss">}; }
#else
  auto before_run(auto&) { return crochet::fetches<"loss">; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::fetches_a_name_that_is_not_in_the_graph<Plateau, .*("lose"|'l', 'o', 's', 'e')
// The unknown name is in the request and not in a static list.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  auto before_run(auto&) { return crochet::RunArgs{crochet::fetches<"loss">}; }
#else
  auto before_run(auto&) { return crochet::RunArgs{crochet::fetches<"lose">}; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run(crochet::targets<"train">);
}

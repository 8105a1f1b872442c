// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::extends_the_graph_after_it_is_frozen<Summary, crochet::phase::extend_graph
// extend_graph runs at compile time, when no hook object exists.
#include "toy.hpp"

struct Summary {
#ifdef CROCHET_FIXED
  static constexpr void extend_graph(crochet::GraphBuilder&) {}
#else
  void extend_graph(crochet::GraphBuilder&) {}
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Summary{}}};
  session.run(crochet::targets<"train">);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::extends_the_graph_after_it_is_frozen<Summary, crochet::phase::after_create_session
// A phase at run time takes a graph builder.
#include "toy.hpp"

struct Summary {
#ifdef CROCHET_FIXED
  void after_create_session(auto&, crochet::Coordinator&) {}
#else
  void after_create_session(auto&, crochet::GraphBuilder&) {}
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Summary{}}};
  session.run(crochet::targets<"train">);
}

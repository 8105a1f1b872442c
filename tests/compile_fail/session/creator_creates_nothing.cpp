// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::the_creator_cannot_create_a_session_of_this_executor<
// A session creator without the member that a session calls.
#include "../hooks/toy.hpp"

struct FromMyCluster {
#ifdef CROCHET_FIXED
  void create_session(auto& /*session*/, crochet::Coordinator&) {}
#else
  void create(auto& /*session*/, crochet::Coordinator&) {}
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}, FromMyCluster{}};
  session.close();
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: the_body_does_not_take_the_session_by_reference<
// The & of the body's parameter is forgotten; a session is not copied.
#include "../hooks/toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain<>{}};
#ifdef CROCHET_FIXED
  crochet::run_session(session, [](auto& s) { s.run(crochet::targets<"train">); });
#else
  crochet::run_session(session, [](auto s) { s.run(crochet::targets<"train">); });
#endif
}

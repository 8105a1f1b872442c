// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_session_creator_is_a_scaffold<crochet::Scaffold<
// A scaffold is a part of a session creator.
#include <crochet/crochet.hpp>
#include <crochet/session/session_creators.hpp>

void train(double& field) {
  crochet::StepExecutor step{[&](auto&) { field += 1; }, crochet::variable<"field">(field)};
  const auto scaffold = crochet::Scaffold{}.with_init_fn([&](auto&) { field = 0.5; });
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{step, crochet::HookChain{}, crochet::ChiefSessionCreator{scaffold}};
#else
  crochet::MonitoredSession session{step, crochet::HookChain{}, scaffold};
#endif
  session.run();
}

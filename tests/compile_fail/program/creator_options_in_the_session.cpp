// SPDX-License-Identifier: Apache-2.0
// expect-error: the_last_argument_of_this_session_is_no_session_options<crochet::RestoreOptions>
// expect-error: creator_options_in_the_session.cpp:1[0-9]
// The options of a creator are an argument of the creator, not of the session.
#include "program.hpp"

#include <crochet/session/session_creators.hpp>

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::ChiefSessionCreator{cr::Scaffold{}, {.checkpoint_dir = "run"}}};
#else
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::ChiefSessionCreator{}, cr::RestoreOptions{.checkpoint_dir = "run"}};
#endif
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

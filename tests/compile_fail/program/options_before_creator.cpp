// SPDX-License-Identifier: Apache-2.0
// expect-error: the_last_argument_of_this_session_is_no_session_options<crochet::ChiefSessionCreator<
// expect-error: options_before_creator.cpp:1[0-9]
// A session's options are its last argument.
#include "program.hpp"

#include <crochet/session/session_creators.hpp>

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::ChiefSessionCreator{}, cr::SessionOptions{.stop_grace_period_secs = 5}};
#else
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::SessionOptions{.stop_grace_period_secs = 5}, cr::ChiefSessionCreator{}};
#endif
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

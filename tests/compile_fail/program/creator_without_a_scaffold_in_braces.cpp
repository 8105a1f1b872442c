// SPDX-License-Identifier: Apache-2.0
// expect-error: the_first_argument_of_this_creator_is_no_scaffold<crochet::RestoreOptions>
// expect-error: creator_without_a_scaffold_in_braces.cpp:1[0-9]
// A creator's first argument is the scaffold; its options in braces.
#include "program.hpp"

#include <crochet/session/session_creators.hpp>

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::ChiefSessionCreator{cr::Scaffold{}, {.checkpoint_dir = "run"}}};
#else
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks(), cr::ChiefSessionCreator{{.checkpoint_dir = "run"}}};
#endif
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

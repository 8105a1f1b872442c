// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::names_no_target_and_fetches_nothing<crochet::error::the_caller,
// expect-error: did_you_mean<.*("train"|'t', 'r', 'a', 'i', 'n')
// expect-error: run_names_nothing.cpp:1[0-9]
// A run of a model without target and fetches computes nothing: the loop would never end.
#include "program.hpp"

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
  cr::run_session(session, [&](auto& s) {
#ifdef CROCHET_FIXED
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
#else
    while (!s.should_stop()) s.run(feeds_of(batch));
#endif
  });
}

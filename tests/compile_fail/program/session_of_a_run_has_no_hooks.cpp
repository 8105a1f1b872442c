// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 4300
// expect-error: no member named .hooks
// expect-error: session_of_a_run_has_no_hooks.cpp:1[0-9]
// The session of a run is the one below all hooks. g++ also prints the types of run, values and session.
#include "program.hpp"

struct Plateau {
  void after_run(auto& run, const auto&) {
#ifdef CROCHET_FIXED
    if (run.session().step() > 500) run.request_stop();
#else
    if (run.session().hooks().size > 3) run.request_stop();
#endif
  }
};

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks() | Plateau{}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

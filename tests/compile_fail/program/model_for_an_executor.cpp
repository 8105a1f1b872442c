// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_model_is_not_compiled<Classifier
// expect-error: model_for_an_executor.cpp:1[0-9]
// The model instead of an executor.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
#else
  cr::MonitoredSession session{Classifier{}, hooks()};
#endif
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

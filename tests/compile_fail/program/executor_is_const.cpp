// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_executor_is_const<
// expect-error: executor_is_const.cpp:1[0-9]
// A session borrows an executor that is an lvalue, and a run changes it.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  auto executor = cr::Cpu{}.compile<Classifier>();
#else
  const auto executor = cr::Cpu{}.compile<Classifier>();
#endif
  cr::MonitoredSession session{executor, hooks()};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

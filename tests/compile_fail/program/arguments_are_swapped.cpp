// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_is_no_executor<crochet::HookChain<
// expect-error: arguments_are_swapped.cpp:1[0-9]
// The executor must come before the chain.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
#else
  cr::MonitoredSession session{hooks(), cr::Cpu{}.compile<Classifier>()};
#endif
  while (!session.should_stop()) session.run("train"_n, feeds_of(batch));
  session.close();
}

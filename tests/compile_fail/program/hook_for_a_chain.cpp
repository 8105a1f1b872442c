// SPDX-License-Identifier: Apache-2.0
// expect-error: crochet::error::this_is_no_chain<crochet::StopAtStep>
// expect-error: hook_for_a_chain.cpp:1[0-9]
// A hook alone is no chain.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 9}}};
#else
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::StopAtStep{.last_step = 9}};
#endif
  while (!session.should_stop()) session.run("train"_n, feeds_of(batch));
  session.close();
}

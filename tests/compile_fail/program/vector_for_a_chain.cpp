// SPDX-License-Identifier: Apache-2.0
// expect-error: crochet::error::this_is_no_chain<std::vector<crochet::StopAtStep
// expect-error: vector_for_a_chain.cpp:1[0-9]
// The hooks in a std::vector.
#include <vector>

#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  const cr::HookChain hooks{cr::StopAtStep{.last_step = 9}};
#else
  const std::vector hooks{cr::StopAtStep{.last_step = 9}};
#endif
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks};
  while (!session.should_stop()) session.run("train"_n, feeds_of(batch));
  session.close();
}

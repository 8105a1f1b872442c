// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 7000
// expect-error: call_is_usable<crochet::error::this_is_no_part_of_a_request<Batch>
// A batch has no names of placeholders, also in a step of several runs.
#include "program.hpp"

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
  session.run_step_fn([&](auto& step) {
#ifdef CROCHET_FIXED
    step.session().run(cr::fetches<"loss">, feeds_of(batch));
    return step.run_with_hooks("train"_n, feeds_of(batch));
#else
    step.session().run(cr::fetches<"loss">, feeds_of(batch));
    return step.run_with_hooks("train"_n, batch);
#endif
  });
}

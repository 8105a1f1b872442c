// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_device_is_given_no_model<crochet::BasicCpu<
// expect-error: device_for_an_executor.cpp:1[0-9]
// The device instead of an executor, in `run`.
#include "program.hpp"

void train(const Batch& batch) {
  const auto next = [&] { return feeds_of(batch); };
#ifdef CROCHET_FIXED
  cr::run(cr::Cpu{}.compile<Classifier>(), hooks(), next);
#else
  cr::run(cr::Cpu{}, hooks(), next);
#endif
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_is_no_data_source<
// The data of a loop are a function of no arguments.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::train<Classifier>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
#else
  cr::train<Classifier>(cr::Cpu{}, feeds_of(batch), hooks());
#endif
}

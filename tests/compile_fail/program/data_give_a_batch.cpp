// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::the_data_source_returns_no_request<Batch>
// The function of a loop's data returns feeds.
#include "program.hpp"

void train(const std::vector<Batch>& batches) {
  std::size_t n = 0;
#ifdef CROCHET_FIXED
  cr::train<Classifier>(
      cr::Cpu{}, [&] { return feeds_of(batches[n++]); }, hooks());
#else
  cr::train<Classifier>(
      cr::Cpu{}, [&] { return batches[n++]; }, hooks());
#endif
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::needs_a_placeholder_that_nobody_feeds<
// expect-error: "labels"|'l', 'a', 'b', 'e', 'l', 's'
// expect-error: feed_is_forgotten_in_train.cpp:16
// The same mistake in the data of `train`.
#include "program.hpp"

void train(const Batch& batch) {
  const auto next = [&] {
#ifdef CROCHET_FIXED
    return feeds_of(batch);
#else
    return cr::feeds(cr::feed<"images">(batch.images));
#endif
  };
  cr::train<Classifier>(cr::Cpu{}, next, hooks());
}

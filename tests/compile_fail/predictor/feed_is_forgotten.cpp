// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::needs_a_placeholder_that_nobody_feeds<
// expect-error: "labels"|'l', 'a', 'b', 'e', 'l', 's'
// The error needs labels; only images are fed.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
  cr::Predictor<Classifier, "error"> predict{cr::Cpu{}, "folder"};
#ifdef CROCHET_FIXED
  const auto [error] = predict(cr::feed<"images">(x), cr::feed<"labels">(y));
#else
  const auto [error] = predict(cr::feed<"images">(x));
#endif
  return error;
}

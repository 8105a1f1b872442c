// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::predicts_from_feeds_only>
// A call as that of a session: the names of the values are in the predictor's type.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#ifdef CROCHET_FIXED
  const auto [scores] = predict(cr::feed<"images">(x));
#else
  const auto [scores] = predict(cr::fetches<"scores">, cr::feed<"images">(x));
#endif
  return scores(0, 0);
}

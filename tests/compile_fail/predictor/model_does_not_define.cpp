// SPDX-License-Identifier: Apache-2.0
// expect-error: model_is_usable<crochet::error::
// A struct without `define`.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

struct Nothing {};

float predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Nothing, "scores"> predict{cr::Cpu{}, "folder"};
#endif
  auto worker = predict.worker();
  const auto [scores] = worker(cr::feed<"images">(x));
  return scores(0, 0);
}

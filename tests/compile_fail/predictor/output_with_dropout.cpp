// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::an_output_changes_a_variable<
// expect-error: "random_state"|'r', 'a', 'n', 'd', 'o', 'm', '_', 's', 't', 'a', 't', 'e'
// The logits are those of the training, with dropout.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Classifier, "logits"> predict{cr::Cpu{}, "folder"};
#endif
  auto worker = predict.worker();
  const auto [scores] = worker(cr::feed<"images">(x));
  return scores(0, 0);
}

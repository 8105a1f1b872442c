// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::fetches_a_name_that_is_not_in_the_graph<crochet::error::the_caller, .*("score"|'s', 'c', 'o', 'r', 'e')
// expect-error: did_you_mean<.*("scores"|'s', 'c', 'o', 'r', 'e', 's')
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Classifier, "score"> predict{cr::Cpu{}, "folder"};
#endif
  const auto [scores] = predict(cr::feed<"images">(x));
  return scores(0, 0);
}

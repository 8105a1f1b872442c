// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_a_value_of_the_wrong_type<crochet::error::the_caller,
// expect-error: wanted<float>
// The elements are doubles.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#ifdef CROCHET_FIXED
  const std::vector<float> point(8);
#else
  const std::vector<double> point(8);
#endif
  const auto [scores] = predict(cr::feed<"images">(point));
  return scores(0, 0);
}

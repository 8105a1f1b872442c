// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_a_name_that_is_not_a_placeholder<crochet::error::the_caller, .*("image"|'i', 'm', 'a', 'g', 'e')
// expect-error: did_you_mean<.*("images"|'i', 'm', 'a', 'g', 'e', 's')
// A worker is called with a misspelt name.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
  const cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
  auto worker = predict.worker();
#ifdef CROCHET_FIXED
  const auto [scores] = worker(cr::feed<"images">(x));
#else
  const auto [scores] = worker(cr::feed<"image">(x));
#endif
  return scores(0, 0);
}

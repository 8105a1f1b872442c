// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::outputs_a_variable<
// expect-error: "output/bias"|'o', 'u', 't', 'p', 'u', 't', '/', 'b', 'i', 'a', 's'
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

void predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Classifier, "scores", "output/bias"> predict{cr::Cpu{}, "folder"};
#endif
  predict(cr::feed<"images">(x));
}

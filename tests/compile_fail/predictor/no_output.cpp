// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::names_no_output>
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

void predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Classifier> predict{cr::Cpu{}, "folder"};
#endif
  predict(cr::feed<"images">(x));
}

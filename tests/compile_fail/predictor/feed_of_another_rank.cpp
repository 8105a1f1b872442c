// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_a_value_of_the_wrong_rank<crochet::error::the_caller, .*wanted<crochet::error::rank<2>
// The view has rank 3.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

float predict_one() {
  cr::Predictor<Classifier, "scores"> predict{cr::Cpu{}, "folder"};
#ifdef CROCHET_FIXED
  const cr::TensorView<float, 2> images{x.data(), {2, 8}};
#else
  const cr::TensorView<float, 3> images{x.data(), {2, 4, 2}};
#endif
  const auto [scores] = predict(cr::feed<"images">(images));
  return scores(0, 0);
}

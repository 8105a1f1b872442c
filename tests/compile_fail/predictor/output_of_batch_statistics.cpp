// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::an_output_uses_the_statistics_of_its_batch>
// The logits are those of the training, normalized by the batch.
#include <crochet/executor/cpu.hpp>

#include "network.hpp"

struct Normalized {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    g.name("logits", batch_norm(dense(images, 3, "output"), "norm", true));
    const cr::SharedVariables same(g);
    g.name("scores", batch_norm(dense(images, 3, "output"), "norm", false));
  }
};

float predict_one() {
#ifdef CROCHET_FIXED
  cr::Predictor<Normalized, "scores"> predict{cr::Cpu{}, "folder"};
#else
  cr::Predictor<Normalized, "logits"> predict{cr::Cpu{}, "folder"};
#endif
  auto worker = predict.worker();
  const auto [scores] = worker(cr::feed<"images">(x));
  return scores(0, 0);
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::an_output_uses_the_statistics_of_its_batch>
// The exported logits are those of the training, normalized by the batch.
#include "network.hpp"

struct Normalized {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    g.name("logits", batch_norm(dense(images, 3, "output"), "norm", true));
    const cr::SharedVariables same(g);
    g.name("scores", batch_norm(dense(images, 3, "output"), "norm", false));
  }
};

void write() {
#ifdef CROCHET_FIXED
  cr::export_header<Normalized, "scores">("folder", "digits.hpp");
#else
  cr::export_header<Normalized, "logits">("folder", "digits.hpp");
#endif
}

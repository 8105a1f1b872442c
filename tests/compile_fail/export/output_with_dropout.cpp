// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::exports_a_change_of_a_variable<
// expect-error: "random_state"|'r', 'a', 'n', 'd', 'o', 'm', '_', 's', 't', 'a', 't', 'e'
// The exported logits are those of the training, with dropout.
#include <crochet/export/export_header.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/model.hpp>

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    g.name("logits", dense(dropout(images, 0.5), 3, "output"));
    const cr::SharedVariables same(g);
    g.name("scores", dense(images, 3, "output"));
  }
};

void write() {
#ifdef CROCHET_FIXED
  cr::export_header<Classifier, "scores">("folder", "digits.hpp");
#else
  cr::export_header<Classifier, "logits">("folder", "digits.hpp");
#endif
}

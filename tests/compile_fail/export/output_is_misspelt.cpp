// SPDX-License-Identifier: Apache-2.0
// expect-error: fetches_a_name_that_is_not_in_the_graph<
// An exported output is misspelt.
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
  cr::export_header<Classifier, "score">("folder", "digits.hpp");
#endif
}

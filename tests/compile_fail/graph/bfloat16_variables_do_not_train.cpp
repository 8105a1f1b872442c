// SPDX-License-Identifier: Apache-2.0
// expect-error: bfloat16_variables_do_not_train
// A layer whose kernel is stored as bfloat16 is for inference.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
#ifdef CROCHET_FIXED
    const auto w = g.variable<float>("w", {3, 2}, crochet::glorot_uniform());
    const auto y = matmul(x, cast<crochet::bfloat16>(w));
#else
    const auto y = crochet::dense<crochet::bfloat16>(x, 2, "layer");
#endif
    const auto loss = reduce_mean(square(y));
    g.name("train", minimize(loss, crochet::SGD{}));
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

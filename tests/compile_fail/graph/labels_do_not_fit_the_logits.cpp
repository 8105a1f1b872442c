// SPDX-License-Identifier: Apache-2.0
// expect-error: labels_do_not_fit_the_logits
// expect-error: labels_do_not_fit_the_logits.cpp:17
// A language model needs one label per position; here there is one per sequence.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto z = g.placeholder<float>("logits", {g.dynamic("batch"), 16, 100});
    const auto right = g.placeholder<std::int32_t>("labels", {g.dynamic("batch"), 16});
    const auto wrong = g.placeholder<std::int32_t>("classes", {g.dynamic("batch")});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("loss", sparse_softmax_cross_entropy(z, right)); (void)wrong;
#else
    g.name("loss", sparse_softmax_cross_entropy(z, wrong)); (void)right;
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

// SPDX-License-Identifier: Apache-2.0
// expect-error: top_k_wants_more_than_the_last_dimension_has
// expect-error: top_k_wants_too_many.cpp:15
// The 12 largest values of 10 classes. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto logits = g.placeholder<float>("logits", {g.dynamic("batch"), 10});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("best", top_k(logits, 5).indices);
#else
    g.name("best", top_k(logits, 12).indices);
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

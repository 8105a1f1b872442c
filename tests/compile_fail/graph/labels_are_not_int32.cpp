// SPDX-License-Identifier: Apache-2.0
// expect-error: labels_are_not_int32
// expect-error: labels_are_not_int32.cpp:17
// Labels are class indices of type int32; these are floats.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto z = g.placeholder<float>("logits", {g.dynamic("batch"), 10});
    const auto raw = g.placeholder<float>("labels", {g.dynamic("batch")});
    const auto y = crochet::cast<std::int32_t>(raw);
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("loss", sparse_softmax_cross_entropy(z, y));
#else
    g.name("loss", sparse_softmax_cross_entropy(z, raw)); (void)y;
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

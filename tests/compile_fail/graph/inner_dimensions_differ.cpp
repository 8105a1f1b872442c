// SPDX-License-Identifier: Apache-2.0
// expect-error: inner_dimensions_differ
// expect-error: inner_dimensions_differ.cpp:16
// A product of [batch, 784] and [128, 10]: the error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 784});
#ifdef CROCHET_FIXED
    const auto w = g.variable<float>("w", {784, 10}, crochet::zeros());
#else
    const auto w = g.variable<float>("w", {128, 10}, crochet::zeros());
#endif
    g.name("y", matmul(x, w));
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

// SPDX-License-Identifier: Apache-2.0
// expect-error: loss_depends_on_no_variable
// expect-error: loss_depends_on_no_variable.cpp:18
// minimize() of a loss without a trainable variable. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    g.placeholder<float>("images", {batch, 28, 28, 1});
    g.placeholder<float>("row", {3});
    g.placeholder<std::int32_t>("labels", {batch});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("y", minimize(reduce_mean(g["row"] * g.variable<float>("w", {3}, crochet::ones())), crochet::SGD{}));
#else
    g.name("y", minimize(reduce_mean(g["row"]), crochet::SGD{}));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

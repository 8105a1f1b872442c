// SPDX-License-Identifier: Apache-2.0
// expect-error: loss_is_not_a_scalar
// expect-error: loss_is_not_a_scalar.cpp:21
// minimize() of a row. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    g.placeholder<float>("images", {batch, 28, 28, 1});
    g.placeholder<float>("row", {3});
    g.placeholder<std::int32_t>("labels", {batch});
    // clang-format off
    const auto row = g["row"];
    const auto three = g.variable<float>("w", {3}, crochet::ones());
    const auto loss = row * three;
#ifdef CROCHET_FIXED
    minimize(reduce_mean(loss), crochet::SGD{});
#else
    minimize(loss, crochet::SGD{});
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

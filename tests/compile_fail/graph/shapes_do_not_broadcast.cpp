// SPDX-License-Identifier: Apache-2.0
// expect-error: shapes_do_not_broadcast
// expect-error: shapes_do_not_broadcast.cpp:21
// [3] and [4] do not broadcast. The error points at this file's line.
#include <crochet/model.hpp>
#include <crochet/graph/frozen.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    g.placeholder<float>("images", {batch, 28, 28, 1});
    g.placeholder<float>("row", {3});
    g.placeholder<std::int32_t>("labels", {batch});
    // clang-format off
    const auto row = g["row"];
    const auto three = g.variable<float>("w", {3}, crochet::ones());
    const auto four = g.variable<float>("v", {4}, crochet::ones());
#ifdef CROCHET_FIXED
    g.name("y", row + three + reduce_sum(four));
#else
    g.name("y", row + four + reduce_sum(three));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

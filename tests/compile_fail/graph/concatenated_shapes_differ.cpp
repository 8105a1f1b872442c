// SPDX-License-Identifier: Apache-2.0
// expect-error: shapes_differ_beside_the_axis
// expect-error: concatenated_shapes_differ.cpp:17
// 28 rows and 14 rows, concatenated along the last axis. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 28, 3});
    const auto y = g.placeholder<float>("y", {batch, 14, 3});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("z", crochet::concat({x, y}, 1));
#else
    g.name("z", crochet::concat({x, y}, 2));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

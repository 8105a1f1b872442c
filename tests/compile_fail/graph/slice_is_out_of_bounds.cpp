// SPDX-License-Identifier: Apache-2.0
// expect-error: slice_is_out_of_bounds
// expect-error: slice_is_out_of_bounds.cpp:17
// The first 32 rows of 28. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 28, 3});
    const auto y = g.placeholder<float>("y", {batch, 14, 3});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("z", slice(x, 1, 0, 28));
#else
    g.name("z", slice(x, 1, 0, 32));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

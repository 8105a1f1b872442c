// SPDX-License-Identifier: Apache-2.0
// expect-error: not_a_permutation_of_the_axes
// expect-error: axes_are_not_permuted.cpp:17
// One axis occurs twice, another is missing. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 28, 3});
    const auto y = g.placeholder<float>("y", {batch, 14, 3});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("z", transpose(x, {0, 2, 1}));
#else
    g.name("z", transpose(x, {0, 2, 2}));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

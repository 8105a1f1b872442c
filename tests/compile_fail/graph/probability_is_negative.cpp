// SPDX-License-Identifier: Apache-2.0
// expect-error: probability_is_not_from_0_to_1
// expect-error: probability_is_negative.cpp:15
// A probability below 0. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("heads", random_bool(g, {batch}, 0.5));
#else
    g.name("heads", random_bool(g, {batch}, -0.5));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

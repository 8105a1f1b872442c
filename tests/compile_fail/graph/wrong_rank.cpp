// SPDX-License-Identifier: Apache-2.0
// expect-error: wrong_rank
// expect-error: wrong_rank.cpp:18
// dense() on a single row, which is not a batch. The error points at this file's line.
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
    g.name("y", dense(reshape(g["row"], {1, 3}), 10, "y/layer"));
#else
    g.name("y", dense(g["row"], 10, "y/layer"));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

// SPDX-License-Identifier: Apache-2.0
// expect-error: name_is_taken
// expect-error: name_is_taken.cpp:18
// Two values named "row". The error points at this file's line.
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
    g.name("y", relu(g["row"]));
#else
    g.name("row", relu(g["row"]));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

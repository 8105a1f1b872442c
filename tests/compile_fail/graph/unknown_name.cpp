// SPDX-License-Identifier: Apache-2.0
// expect-error: no_value_has_this_name
// expect-error: unknown_name.cpp:18
// The graph has "images", not "image". The error points at this file's line.
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
    g.name("y", relu(g["images"]));
#else
    g.name("y", relu(g["image"]));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

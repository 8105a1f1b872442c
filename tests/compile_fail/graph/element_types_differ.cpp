// SPDX-License-Identifier: Apache-2.0
// expect-error: element_types_differ
// expect-error: element_types_differ.cpp:20
// A sum of a float and an int32. The error points at this file's line.
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
    const auto one = g.constant<std::int32_t>(1);
#ifdef CROCHET_FIXED
    g.name("y", row + cast<float>(one));
#else
    g.name("y", row + one);
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

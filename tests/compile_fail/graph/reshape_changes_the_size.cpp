// SPDX-License-Identifier: Apache-2.0
// expect-error: reshape_changes_the_number_of_elements
// expect-error: reshape_changes_the_size.cpp:19
// A reshape of 28 x 28 pixels to 700 elements. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    g.placeholder<float>("images", {batch, 28, 28, 1});
    g.placeholder<float>("row", {3});
    g.placeholder<std::int32_t>("labels", {batch});
    // clang-format off
    const auto images = g["images"];
#ifdef CROCHET_FIXED
    g.name("y", flatten(images));
#else
    g.name("y", reshape(images, {batch, 700}));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

// SPDX-License-Identifier: Apache-2.0
// expect-error: channels_differ
// expect-error: channels_differ.cpp:21
// A filter for 3 channels on images of 1. The error points at this file's line.
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
    const auto one = g.variable<float>("w", {3, 3, 1, 8}, crochet::zeros());
    const auto rgb = g.variable<float>("v", {3, 3, 3, 8}, crochet::zeros());
#ifdef CROCHET_FIXED
    g.name("y", conv2d(images, one) + reduce_sum(rgb));
#else
    g.name("y", conv2d(images, rgb) + reduce_sum(one));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

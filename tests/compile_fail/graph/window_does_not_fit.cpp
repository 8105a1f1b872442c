// SPDX-License-Identifier: Apache-2.0
// expect-error: window_does_not_fit
// expect-error: window_does_not_fit.cpp:20
// at-most-bytes: 2800
// The dilated window of 3 by 3 spans 9 pixels; the images have 8. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8, 8, 3});
    const auto filter = g.variable<float>("filter", {3, 3, 3, 4}, crochet::zeros());
    const crochet::Window stride{1, 1};
    constexpr auto valid = crochet::Padding::valid;
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("y", conv2d(images, filter, stride, valid, {3, 3}));
#else

    g.name("y", conv2d(images, filter, stride, valid, {4, 4}));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();

// SPDX-License-Identifier: Apache-2.0
// The networks that the benchmarks run. They have the sizes of the usual first examples on images of 28 by 28 pixels,
// so that they can be set against the same network in any other library.
#pragma once
#include <crochet/model.hpp>

#include <cstdint>

namespace bench {

/// 784-128-10 with relu.
template <class Optimizer>
struct Mlp {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto hidden = relu(dense(images, 128, "hidden"));
    const auto logits = g.name("logits", dense(hidden, 10, "output"));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, Optimizer{}));
  }
};

/// Twice convolution 3x3, relu and max pooling 2x2, with 32 and 64 filters; then dense layers of 128 and 10.
template <class Optimizer>
struct Cnn {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 28, 28, 1});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = max_pool(relu(conv2d(images, 32, {3, 3}, "conv1")), 2);
    const auto second = max_pool(relu(conv2d(first, 64, {3, 3}, "conv2")), 2);
    const auto hidden = relu(dense(flatten(second), 128, "hidden"));
    const auto logits = g.name("logits", dense(hidden, 10, "output"));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, Optimizer{}));
  }
};

}  // namespace bench

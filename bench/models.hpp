// SPDX-License-Identifier: Apache-2.0
// The networks that the benchmarks run. They have the sizes of the usual first examples on images of 28 by 28 pixels,
// so that they can be set against the same network in any other library. Batch: a number, or 0 for one that is known
// only when the model is fed.
#pragma once
#include <crochet/model.hpp>

#include <cstdint>

namespace bench {

template <std::int64_t Batch>
constexpr crochet::Extent batch_of(crochet::GraphBuilder& g) {
  if constexpr (Batch == 0) {
    return g.dynamic("batch");
  } else {
    return Batch;
  }
}

/// Names the loss of a classifier, and its training step.
template <class Optimizer>
constexpr void train_classifier(crochet::GraphBuilder& g, crochet::Tensor logits, crochet::Tensor labels) {
  const auto loss = g.name("loss", sparse_softmax_cross_entropy(g.name("logits", logits), labels));
  g.name("train", minimize(loss, Optimizer{}));
}

/// 784-128-10 with relu.
template <class Optimizer, std::int64_t Batch = 0>
struct Mlp {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto hidden = relu(dense(images, 128, "hidden"));
    train_classifier<Optimizer>(g, dense(hidden, 10, "output"), labels);
  }
};

/// 784-512-512-10 with relu.
template <class Optimizer, std::int64_t Batch = 0>
struct WideMlp {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = relu(dense(images, 512, "hidden1"));
    const auto second = relu(dense(first, 512, "hidden2"));
    train_classifier<Optimizer>(g, dense(second, 10, "output"), labels);
  }
};

/// Twice convolution 3x3, relu and max pooling 2x2, with 32 and 64 filters; then dense layers of 128 and 10.
template <class Optimizer, std::int64_t Batch = 0>
struct Cnn {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = g.placeholder<float>("images", {batch, 28, 28, 1});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = max_pool(relu(conv2d(images, 32, {3, 3}, "conv1")), 2);
    const auto second = max_pool(relu(conv2d(first, 64, {3, 3}, "conv2")), 2);
    const auto hidden = relu(dense(flatten(second), 128, "hidden"));
    train_classifier<Optimizer>(g, dense(hidden, 10, "output"), labels);
  }
};

/// The mean of twelve chained elementwise operations on 2^20 numbers, and its gradient.
struct Chain {
  static constexpr std::int64_t size = 1 << 20;
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.variable<float>("x", {size}, crochet::zeros());
    const auto inner = square(tanh(x * 1.1 + 0.3)) + 1.0;
    const auto loss = g.name("loss", reduce_mean(sigmoid(relu(exp(-sqrt(inner)) * x) - 0.1)));
    g.name("gradient", gradient(loss, x));
  }
};

/// One parameter on a parabola: w <- w - 0.1 * 2 (w - 3).
struct Scalar {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {}, crochet::zeros());
    g.name("train", minimize(square(w - 3.0), crochet::SGD{0.1}, {.count_step = false}));
  }
};

}  // namespace bench

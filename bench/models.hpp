// SPDX-License-Identifier: Apache-2.0
// The networks of the benchmarks. Their sizes are those of common first examples on images of 28 by 28 pixels, for
// comparison with the same networks in other libraries. Batch: a number, or 0 for a size that is known only when the
// model is fed. Data: whether the data is fed, or is in variables of the model, which stay on the device.
#pragma once
#include <crochet/model.hpp>

#include <cstdint>
#include <string_view>

namespace bench {

template <std::int64_t Batch>
constexpr crochet::Extent batch_of(crochet::GraphBuilder& g) {
  if constexpr (Batch == 0) {
    return g.dynamic("batch");
  } else {
    return Batch;
  }
}

enum class Data { fed, resident };

/// The model's data of this name. Resident data is a variable that is not trained; its batch is a number.
template <class T, Data From>
constexpr crochet::Tensor data(crochet::GraphBuilder& g, std::string_view name, const crochet::Shape& shape) {
  if constexpr (From == Data::fed) {
    return g.placeholder<T>(name, shape);
  } else {
    return g.variable<T>(name, shape, crochet::zeros(), false);
  }
}

/// Names the loss of a classifier, and its training step.
template <class Optimizer>
constexpr void train_classifier(crochet::GraphBuilder& g, crochet::Tensor logits, crochet::Tensor labels) {
  const auto loss = g.name("loss", sparse_softmax_cross_entropy(g.name("logits", logits), labels));
  g.name("train", minimize(loss, Optimizer{}));
}

/// 784-128-10 with relu.
template <class Optimizer, std::int64_t Batch = 0, Data From = Data::fed>
struct Mlp {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = data<float, From>(g, "images", {batch, 784});
    const auto labels = data<std::int32_t, From>(g, "labels", {batch});
    const auto hidden = relu(dense(images, 128, "hidden"));
    train_classifier<Optimizer>(g, dense(hidden, 10, "output"), labels);
  }
};

/// 784-512-512-10 with relu.
template <class Optimizer, std::int64_t Batch = 0, Data From = Data::fed>
struct WideMlp {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = data<float, From>(g, "images", {batch, 784});
    const auto labels = data<std::int32_t, From>(g, "labels", {batch});
    const auto first = relu(dense(images, 512, "hidden1"));
    const auto second = relu(dense(first, 512, "hidden2"));
    train_classifier<Optimizer>(g, dense(second, 10, "output"), labels);
  }
};

/// Twice convolution 3x3, relu and max pooling 2x2, with 32 and 64 filters; then dense layers of 128 and 10.
template <class Optimizer, std::int64_t Batch = 0, Data From = Data::fed>
struct Cnn {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = data<float, From>(g, "images", {batch, 28, 28, 1});
    const auto labels = data<std::int32_t, From>(g, "labels", {batch});
    const auto first = max_pool(relu(conv2d(images, 32, {3, 3}, "conv1")), 2);
    const auto second = max_pool(relu(conv2d(first, 64, {3, 3}, "conv2")), 2);
    const auto hidden = relu(dense(flatten(second), 128, "hidden"));
    train_classifier<Optimizer>(g, dense(hidden, 10, "output"), labels);
  }
};

/// A post-norm transformer encoder block: attention, then a dense layer with relu and one back, each added to its input
/// and normalised. Trained to a target by mean squared error. The feeds have the other models' names, so that one loop
/// drives all models.
template <class Optimizer, std::int64_t Batch = 0, std::int64_t Length = 64, std::int64_t Width = 128,
          std::int32_t Heads = 4, std::int64_t Inner = 512, Data From = Data::fed>
struct Encoder {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto x = data<float, From>(g, "images", {batch, Length, Width});
    const auto target = data<float, From>(g, "labels", {batch, Length, Width});
    const auto attention = dense(self_attention(dense(x, 3 * Width, "qkv"), Heads), Width, "projection");
    const auto h = normalized(x + attention, "scale1", "shift1");
    const auto y = normalized(h + dense(relu(dense(h, Inner, "up")), Width, "down"), "scale2", "shift2");
    const auto loss = g.name("loss", mean_squared_error(g.name("logits", y), target));
    g.name("train", minimize(loss, Optimizer{}));
  }

 private:
  static constexpr crochet::Tensor normalized(crochet::Tensor x, std::string_view scale, std::string_view shift) {
    return layer_norm(x, x.graph->variable<float>(scale, {Width}, crochet::ones()),
                      x.graph->variable<float>(shift, {Width}, crochet::zeros()));
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

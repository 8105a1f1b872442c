// SPDX-License-Identifier: Apache-2.0
// The two networks of the demo. A model is a constexpr function that describes the graph. The code of a run is
// straight-line code for exactly the requested values.
#pragma once
#include <crochet/model.hpp>

namespace demo {

namespace cr = crochet;

/// The end of both networks: loss, accuracy and one step of Adam.
constexpr void learn(cr::GraphBuilder& g, cr::Tensor logits, cr::Tensor labels) {
  g.name("logits", logits);
  const auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax(logits), labels))));
  g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-3}));
}

/// 784 - 128 - 10, fully connected.
struct Mlp {
  static constexpr const char* name = "mlp: 784 - dense 128 - relu - dense 10";
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto hidden = relu(dense(images, 128, "hidden", cr::lecun_uniform()));
    learn(g, dense(hidden, 10, "output", cr::lecun_uniform()), labels);
  }
};

/// Two convolutions with pooling, then two fully connected layers.
struct Cnn {
  static constexpr const char* name =
      "cnn: conv 3x3x32 - relu - pool 2 - conv 3x3x64 - relu - pool 2 - dense 128 - relu - dense 10";
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const cr::ConvOptions same{.init = cr::lecun_uniform()};
    auto x = reshape(images, {batch, 28, 28, 1});
    x = max_pool(relu(conv2d(x, 32, {3, 3}, "conv1", same)), 2);
    x = max_pool(relu(conv2d(x, 64, {3, 3}, "conv2", same)), 2);
    x = relu(dense(flatten(x), 128, "hidden", cr::lecun_uniform()));
    learn(g, dense(x, 10, "output", cr::lecun_uniform()), labels);
  }
};

}  // namespace demo

// SPDX-License-Identifier: Apache-2.0
// X1 to X7: networks of sizes that were not used for tuning. bench/peers has the same ones in PyTorch and JAX. X8 and
// X9: networks so small that a second thread may cost more than it saves (bench/threads).
#pragma once
#include "../models.hpp"

namespace bench {

/// Dense layers of these sizes on `inputs` numbers of type T, each but the last with an activation.
template <class T, class Optimizer, auto Activation, std::int64_t Batch, std::int64_t Inputs, std::int64_t... Units>
struct Dense {
  static constexpr void define(crochet::GraphBuilder& g) {
    constexpr std::string_view names[] = {"dense0", "dense1", "dense2", "dense3", "dense4",  "dense5",
                                          "dense6", "dense7", "dense8", "dense9", "dense10", "dense11"};
    constexpr std::int64_t units[] = {Units...};
    const auto batch = batch_of<Batch>(g);
    crochet::Tensor h = g.placeholder<T>("images", {batch, Inputs});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    for (std::size_t i = 0; i < sizeof...(Units); ++i) {
      h = dense(i == 0 ? h : Activation(h), units[i], names[i], crochet::he_normal());
    }
    train_classifier<Optimizer>(g, h, labels);
  }
};

/// Images 32 by 32 of 3 channels: 24 filters of 5x5 and 40 of 3x3, each with relu and max pooling, then 100 and 10.
template <std::int64_t Batch>
struct ColourCnn {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = g.placeholder<float>("images", {batch, 32, 32, 3});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = max_pool(relu(conv2d(images, 24, {5, 5}, "conv1")), 2);
    const auto second = max_pool(relu(conv2d(first, 40, {3, 3}, "conv2")), 2);
    train_classifier<crochet::Adam>(g, dense(relu(dense(flatten(second), 100, "hidden")), 10, "output"), labels);
  }
};

/// Images 40 by 40 of 2 channels: 20 and 36 filters of 3x3 with stride 2 and relu, the mean over all places, then 7.
template <std::int64_t Batch>
struct StridedCnn {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = batch_of<Batch>(g);
    const auto images = g.placeholder<float>("images", {batch, 40, 40, 2});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = relu(conv2d(images, 20, {3, 3}, "conv1", {.stride = {2, 2}}));
    const auto second = relu(conv2d(first, 36, {3, 3}, "conv2", {.stride = {2, 2}}));
    train_classifier<crochet::Adam>(g, dense(reduce_mean(second, {1, 2}), 7, "output"), labels);
  }
};

/// A mean of elementwise operations in double, of a matrix and a row, and its gradients.
struct RowChain {
  static constexpr std::int64_t rows = 300, columns = 1000;
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.variable<double>("x", {rows, columns}, crochet::truncated_normal(0, 1));
    const auto b = g.variable<double>("b", {columns}, crochet::truncated_normal(0, 1));
    const auto loss = g.name("loss", reduce_mean(tanh(x * b + 0.5) * exp(-square(x)) + sqrt(abs(x) + 1.0)));
    g.name("gradient", gradient(loss, x));
    g.name("row_gradient", gradient(loss, b));
  }
};

}  // namespace bench

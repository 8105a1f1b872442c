// SPDX-License-Identifier: Apache-2.0
// A network of depthwise and pointwise convolutions with batch normalization, as MobileNet.
#include <crochet/executor/cpu.hpp>

#include "training.hpp"

namespace {

using namespace crochet;

struct Separable {
  static constexpr Tensor block(Tensor x, std::int32_t stride, std::int64_t filters, std::string_view depthwise,
                                std::string_view depthwise_norm, std::string_view pointwise, std::string_view norm) {
    const auto h =
        relu(batch_norm(depthwise_conv2d(x, {3, 3}, depthwise, {.stride = {stride, stride}}), depthwise_norm, true));
    return relu(batch_norm(conv2d(h, filters, {1, 1}, pointwise), norm, true));
  }
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = conv2d(reshape(images, {batch, 28, 28, 1}), 16, {3, 3}, "first");
    auto x = relu(batch_norm(first, "first_norm", true));
    x = block(x, 1, 32, "depthwise1", "depthwise_norm1", "pointwise1", "norm1");
    x = block(x, 2, 64, "depthwise2", "depthwise_norm2", "pointwise2", "norm2");
    x = block(x, 1, 64, "depthwise3", "depthwise_norm3", "pointwise3", "norm3");
    x = block(x, 2, 128, "depthwise4", "depthwise_norm4", "pointwise4", "norm4");
    bench::train_classifier<Momentum>(g, dense(reduce_mean(x, {1, 2}), 10, "output"), labels);
  }
};

}  // namespace

float train(std::span<const float> images, std::span<const std::int32_t> labels) {
  return train_model<Separable>(crochet::Cpu{}, images, labels);
}

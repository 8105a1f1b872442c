// SPDX-License-Identifier: Apache-2.0
// expect-error: inner_dimensions_differ
// expect-error: model_through_train.cpp:17
// expect-error: model_through_train.cpp:2[0-9]
// The same through train: a product of shapes that do not fit.
#include "program.hpp"

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    // clang-format off
    const auto images = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const auto w = g.variable<float>("w", {783, 10}, cr::constant_initializer(0));
#ifdef CROCHET_FIXED
    const auto y = matmul(slice(images, 1, 0, 783), w);
#else
    const auto y = matmul(images, w);
#endif
    // clang-format on
    g.name("train", minimize(g.name("loss", reduce_mean(square(y))), cr::Adam{}));
  }
};
void train(const Batch& batch) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
}

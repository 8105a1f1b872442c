// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::runs_a_target_that_is_not_in_the_graph<crochet::error::the_training_loop,
// expect-error: did_you_mean<.*("trian"|'t', 'r', 'i', 'a', 'n')
// expect-error: train_is_misspelt.cpp:[12][0-9]
// `train` runs the target "train". Without that target it would train nothing, and never end.
#include "program.hpp"

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("images", {784});
    const auto w = g.variable<float>("w", {}, cr::constant_initializer(0));
#ifdef CROCHET_FIXED
    g.name("train", minimize(g.name("loss", reduce_mean(square(x * w))), cr::SGD{}));
#else
    g.name("trian", minimize(g.name("loss", reduce_mean(square(x * w))), cr::SGD{}));
#endif
  }
};
void train(const Batch& b) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return cr::feeds(cr::feed<"images">(b.images)); }, hooks());
}

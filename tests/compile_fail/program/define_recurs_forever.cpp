// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 72000
// expect-error: depth
// expect-error: define_recurs_forever.cpp:1[0-9]
// expect-error: define_recurs_forever.cpp:2[0-9]
// A model with an infinite recursion in define. g++ prints a line for each of the 512 calls that it permits; clang
// omits the calls in the middle.
#include "program.hpp"

struct Net {
  static constexpr cr::Tensor stack(cr::Tensor x, int layers) {
#ifdef CROCHET_FIXED
    return layers == 0 ? x : stack(relu(x), layers - 1);
#else
    return stack(relu(x), layers - 1);
#endif
  }
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(stack(images, 3), 10, "output"), labels));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-3}));
  }
};

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Net>(), hooks()};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: limit
// expect-error: define_loops_forever.cpp:1[0-9]
// expect-error: define_loops_forever.cpp:2[0-9]
// gnu-options: -fconstexpr-ops-limit=1000000
// A model whose define never returns: the compiler's own limit, with the line of the loop. (g++'s default limit is 33
// times as high, and takes it 15 seconds.)
#include "program.hpp"

struct Net {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto hidden = images;
#ifdef CROCHET_FIXED
    for (int i = 0; i < 3; ++i) hidden = relu(hidden);
#else
    for (int i = 0; i < 3;) hidden = relu(hidden);
#endif
    auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(hidden, 10, "output"), labels));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-3}));
  }
};

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Net>(), hooks()};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

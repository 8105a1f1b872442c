// SPDX-License-Identifier: Apache-2.0
// expect-error: no_value_has_this_name
// expect-error: model_through_a_session.cpp:14
// expect-error: model_through_a_session.cpp:27
// A mistake in a model is the only error of a program that runs it: none about the hooks, the creator or the values.
#include "program.hpp"

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    // clang-format off
#ifdef CROCHET_FIXED
    Classifier::define(g);
#else
    g.name("loss", reduce_mean(g["image"]));
#endif
    // clang-format on
  }
};

struct Creator {
  void create_session(auto& session, cr::Coordinator&) { session.executor().initialize(); }
};

void train(Batch& batch) {
  // clang-format off
  cr::MonitoredSession session{
      cr::Cpu{.threads = 2}.compile<Model>(),
      hooks(), Creator{}, cr::SessionOptions{}};
  // clang-format on
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      const auto [loss, logits] = s.run("train"_n, cr::fetches<"loss", "logits">, feeds_of(batch));
      batch.images[0] = loss + logits(0, 0);
    }
  });
  batch.images[0] = session.executor().variable("hidden/kernel"_n)[0];
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: name_is_taken
// expect-error: extension_taken_name.cpp:1[0-9]
// expect-error: extension_taken_name.cpp:2[0-9]
// A hook names a new value as another value of the model is named.
#include "program.hpp"

struct WeightNorm {
#ifdef CROCHET_FIXED
  static constexpr void extend_graph(cr::GraphBuilder& g) { g.name("norm", reduce_sum(g["hidden/kernel"])); }
#else
  static constexpr void extend_graph(cr::GraphBuilder& g) { g.name("loss", reduce_sum(g["hidden/kernel"])); }
#endif
  static constexpr auto fetches = cr::fetches<"norm">;
  void after_run(auto&, const auto& values) { seen = values["norm"_n]; }
  float seen = 0;
};

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks() | WeightNorm{}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<4, crochet::error::extends_the_graph_of_a_borrowed_executor<WeightNorm
// expect-error: extension_of_a_borrowed_executor.cpp:2[0-9]
// The session creates another executor from this one, so it cannot borrow it.
#include "program.hpp"

struct WeightNorm {
  static constexpr void extend_graph(cr::GraphBuilder& g) { g.name("norm", reduce_sum(g["hidden/kernel"])); }
  static constexpr auto fetches = cr::fetches<"norm">;
  void after_run(auto&, const auto& values) { seen = values["norm"_n]; }
  float seen = 0;
};

void train(const Batch& batch) {
  auto executor = cr::Cpu{}.compile<Classifier>();
  const auto next = [&] { return feeds_of(batch); };
#ifdef CROCHET_FIXED
  cr::run(std::move(executor), hooks() | WeightNorm{}, next);
#else
  cr::run(executor, hooks() | WeightNorm{}, next);
#endif
}

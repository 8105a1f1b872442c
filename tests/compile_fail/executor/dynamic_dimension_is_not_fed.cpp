// SPDX-License-Identifier: Apache-2.0
// expect-error: needs_the_size_of_a_dimension_that_no_feed_has<.*("rows"|'r', 'o', 'w', 's')
// The run fetches the number of rows, and none of its feeds has that dimension.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    g.placeholder<float>("x", {g.dynamic("rows")});
    g.name("rows", g.count(g.dynamic("rows"), crochet::DType::float32) * 2);
  }
};

float rows([[maybe_unused]] const float (&x)[8]) {
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
#ifdef CROCHET_FIXED
  const auto [value] = session.run(crochet::fetches<"rows">, crochet::feed<"x">(x));
#else
  const auto [value] = session.run(crochet::fetches<"rows">);
#endif
  return value;
}

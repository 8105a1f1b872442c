// SPDX-License-Identifier: Apache-2.0
// expect-error: feeds_a_value_of_the_wrong_type<.*("x"|'x')
// A feed in the memory of a GPU has another element type than its placeholder.
#include <crochet/executor/cuda.hpp>

#include <crochet/crochet.hpp>

#include <vector>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", g.placeholder<float>("x", {8}) + 1); }
};

void feed_an_array() {
#ifdef CROCHET_FIXED
  const std::vector<float> values(8);
#else
  const std::vector<double> values(8);
#endif
  crochet::MonitoredSession session{crochet::Cuda{}.compile<Model>(), crochet::HookChain{}};
  const crochet::DeviceArray x(session, values);
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: fetches_a_name_that_is_not_in_the_graph<crochet::error::the_caller, .*there_are<.*("x"|'x').*("y"|'y')
// No name is similar to the one that is fetched: the error states the names that there are.
#include <crochet/executor/cpu.hpp>

#include <array>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", g.placeholder<float>("x", {8}) + 1); }
};

void run_once() {
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
  const std::array<float, 8> x{};
#ifdef CROCHET_FIXED
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
#else
  session.run(crochet::fetches<"accuracy">, crochet::feed<"x">(x));
#endif
}

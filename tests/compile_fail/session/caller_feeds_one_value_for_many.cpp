// SPDX-License-Identifier: Apache-2.0
// expect-error: feeds_a_value_of_the_wrong_rank<crochet::error::the_caller, .*given<float>, crochet::error::wanted<crochet::error::rank<1>
// A single value is fed to a vector. It is not repeated.
#include <crochet/executor/cpu.hpp>

#include <array>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", g.placeholder<float>("x", {8}) + 1); }
};

void run_once() {
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
#ifdef CROCHET_FIXED
  const std::array<float, 8> x{};
#else
  const float x = 1;
#endif
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
}

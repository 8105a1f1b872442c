// SPDX-License-Identifier: Apache-2.0
// expect-error: this_is_no_variable_of_the_graph<
// expect-error: value_for_a_variable.cpp:19
// A program reads a value that a run computes as if it were a variable.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", dense(g.placeholder<float>("x", {2, 8}), 1, "w")); }
};

float first_weight(crochet::Cpu cpu) {
  using namespace crochet::literals;
  auto executor = cpu.compile<Model>();
#ifdef CROCHET_FIXED
  return executor.variable("w/bias"_n)[0];
#else
  return executor.variable("y"_n)[0];
#endif
}

// SPDX-License-Identifier: Apache-2.0
// expect-error: this_is_no_variable_of_the_graph<.*("w/kernl"|'w', '/', 'k', 'e', 'r', 'n', 'l').*did_you_mean<.*("w/kernel"|'w', '/', 'k', 'e', 'r', 'n', 'e', 'l')
// expect-error: variable_is_misspelt.cpp:18
// A program reads a variable by a name that the model does not have.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", dense(g.placeholder<float>("x", {2, 8}), 1, "w")); }
};

float first_weight(crochet::Cpu cpu) {
  auto executor = cpu.compile<Model>();
#ifdef CROCHET_FIXED
  return executor.variable(crochet::Name<"w/kernel">{})[0];
#else
  return executor.variable(crochet::Name<"w/kernl">{})[0];
#endif
}

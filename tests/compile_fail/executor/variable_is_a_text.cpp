// SPDX-License-Identifier: Apache-2.0
// expect-error: a_text_is_a_name_with_the_suffix_n
// expect-error: variable_is_a_text.cpp:19
// A program reads a variable by a text.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", dense(g.placeholder<float>("x", {2, 8}), 1, "w")); }
};

float first_weight(crochet::Cpu cpu) {
  using namespace crochet::literals;
  auto executor = cpu.compile<Model>();
#ifdef CROCHET_FIXED
  return executor.variable("w/kernel"_n)[0];
#else
  return executor.variable("w/kernel")[0];
#endif
}

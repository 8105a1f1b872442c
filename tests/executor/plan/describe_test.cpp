// SPDX-License-Identifier: Apache-2.0
// The text of describe() for a small model, word for word.
#include <string>

#include <gtest/gtest.h>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/plan/describe.hpp>

namespace crochet {
namespace describe_test {

struct Small {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 20});
    g.name("y", dense(relu(dense(x, 16, "hidden")), 10, "out"));
  }
};
struct Trained {
  static constexpr void define(GraphBuilder& g) {
    Small::define(g);
    g.name("train", minimize(g.name("loss", reduce_mean(square(g["y"]))), SGD{0.1}));
  }
};

TEST(Describe, AModelAndOneOfItsRuns) {
  const auto executor = Cpu{}.compile<Small>();
  EXPECT_EQ(describe(executor, fetches<"y">, targets<>, {{"batch", 32}}),
            "graph: 10 nodes, 4 variables of 506 elements (2024 bytes), 506 of them trainable\n"
            "run: 2 steps, 1 barrier, 3328 bytes of workspace\n"
            "  matmul [batch, 16]: add relu\n"
            "| matmul [batch, 10]: add\n");
}

TEST(Describe, SaysWhatAStepAssigns) {
  const std::string text = describe(Cpu{}.compile<Trained>(), fetches<"loss">, targets<"train">);
  EXPECT_NE(text.find("workspace as large as the dynamic dimensions make it"), std::string::npos) << text;
  EXPECT_NE(text.find("matmul [20, 16]: mul sub -> hidden/kernel\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-> global_step\n"), std::string::npos) << text;
}

}  // namespace describe_test
}  // namespace crochet

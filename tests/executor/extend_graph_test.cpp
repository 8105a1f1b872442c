// SPDX-License-Identifier: Apache-2.0
// Hooks that add to the graph: their nodes can use the model's, and fetching these nodes does not change the model.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <vector>

#include "device_under_test.hpp"

namespace crochet {
namespace extend_graph_test {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n")});
    const auto w = g.variable<float>("w", {}, constant_initializer(3));
    const auto loss = g.name("loss", reduce_mean(square(x * w)));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.25}));
  }
};

/// Adds a value computed from a variable after the optimizer's update.
struct WeightNorm {
  static constexpr void extend_graph(GraphBuilder& g) { g.name("norm", abs(g["w"])); }
  static constexpr auto fetches = crochet::fetches<"norm">;

  void after_run(auto&, const auto& values) { seen.push_back(values["norm"_n]); }
  std::vector<float> seen{};
};

/// Adds a value computed from the value of an earlier hook.
struct TwiceTheNorm {
  static constexpr void extend_graph(GraphBuilder& g) { g.name("twice", g["norm"] * 2); }
  static constexpr auto fetches = crochet::fetches<"twice">;

  void after_run(auto&, const auto& values) { last = values["twice"_n]; }
  float last = 0;
};

TEST(ExtendGraph, AHookSeesTheModelAndEarlierHooks) {
  MonitoredSession session{DeviceUnderTest{}.compile<Model>(), HookChain{WeightNorm{}, TwiceTheNorm{}}};
  const std::vector<float> x{1, 1};
  const auto [norm] = session.run(fetches<"norm">, feed<"x">(x));
  EXPECT_EQ(norm, 3);
  EXPECT_EQ(session.hooks().get<TwiceTheNorm>().last, 6);
  session.close();
}

TEST(ExtendGraph, LookingAtAVariableDoesNotTrainIt) {
  MonitoredSession session{DeviceUnderTest{}.compile<Model>(), HookChain{WeightNorm{}}};
  const std::vector<float> x{1, 1};
  session.run(fetches<"loss">, feed<"x">(x));
  session.run(fetches<"loss">, feed<"x">(x));
  EXPECT_EQ(session.executor().variable("w"_n)[0], 3) << "nobody asked for the target train";
  session.run(targets<"train">, feed<"x">(x));
  EXPECT_EQ(session.executor().variable("w"_n)[0], 1.5F);
  EXPECT_EQ(session.hooks().get<WeightNorm>().seen, (std::vector<float>{3, 3, 1.5F})) << "after the update, in its run";
  session.close();
}

struct TwoOptimizers {
  static constexpr void define(GraphBuilder& g) {
    const auto w = g.variable<float>("w", {}, constant_initializer(8));
    g.name("half", minimize(square(w), SGD{.learning_rate = 0.25}));
    g.name("less", minimize(abs(w), SGD{.learning_rate = 1}, {.count_step = false}));
  }
};

TEST(TwoOptimizersOnOneVariable, OneAloneDoesOnlyItsOwnUpdate) {
  MonitoredSession session{DeviceUnderTest{}.compile<TwoOptimizers>(), HookChain{}};
  session.run(targets<"less">);
  EXPECT_EQ(session.executor().variable("w"_n)[0], 7);
  EXPECT_EQ(session.step(), 0);
  session.run(targets<"half">);
  EXPECT_EQ(session.executor().variable("w"_n)[0], 3.5F);
  session.run(targets<"half", "less">);
  EXPECT_EQ(session.executor().variable("w"_n)[0], 0.75F) << "both, in the model's order";
  session.close();
}

}  // namespace extend_graph_test
}  // namespace crochet

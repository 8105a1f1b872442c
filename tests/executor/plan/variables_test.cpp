// SPDX-License-Identifier: Apache-2.0
// Executors give access to their variables and track which of them have a value.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <crochet/executor/cpu.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/variables.hpp>

namespace crochet {
namespace variables_test {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {3, 40});
    const auto w = g.variable<float>("w", {40, 70}, uniform(-1, 1));  // in panels
    const auto b = g.variable<double>("b", {70}, constant_initializer(0.5));
    const auto y = g.name("y", matmul(x, w));
    g.name("b twice", b * 2);
    g.name("train", minimize(reduce_mean(square(y)), SGD{.learning_rate = 0.01}));
  }
};
using E = decltype(Cpu{.threads = 1}.compile<Model>());
static_assert(HasVariables<E>);

struct Shown {
  std::string type;
  std::vector<double> elements;
  std::vector<std::int64_t> shape;
};
struct Collect {
  template <class T>
  void operator()(std::string_view name, std::span<T> elements, std::span<const std::int64_t> shape) {
    const std::string type = std::is_same_v<std::remove_const_t<T>, float>    ? "float"
                             : std::is_same_v<std::remove_const_t<T>, double> ? "double"
                                                                              : "other";
    all[std::string(name)] = {type, {elements.begin(), elements.end()}, {shape.begin(), shape.end()}};
  }
  std::map<std::string, Shown> all;
};

template <class D>
std::string error_of(E& executor, const std::vector<float>& x) {
  typename E::Workspace workspace;
  try {
    executor.run<D>(workspace, Feed<Name<"x">, std::vector<float>>{x});
  } catch (const UninitializedError& error) {
    return error.what();
  }
  return "";
}
using Y = Demand<Names<Name<"y">>, Names<>>;
const std::vector<float> ones(120, 1.F);

TEST(Variables, OfAGraphAreShownRowByRow) {
  E executor = Cpu{.seed = 3}.compile<Model>();
  executor.initialize();
  Collect seen;
  static_cast<const E&>(executor).for_each_variable(seen);
  ASSERT_EQ(seen.all.size(), 3U);
  EXPECT_EQ(seen.all["w"].shape, (std::vector<std::int64_t>{40, 70}));
  EXPECT_EQ(seen.all["w"].type, "float");
  EXPECT_EQ(seen.all["b"].shape, (std::vector<std::int64_t>{70}));
  EXPECT_EQ(seen.all["b"].elements, std::vector<double>(70, 0.5));
  EXPECT_TRUE(seen.all["global_step"].shape.empty());
  const auto w = executor.variable(Name<"w">{});
  EXPECT_EQ(seen.all["w"].elements, std::vector<double>(w.begin(), w.end()));
}

TEST(Variables, WhatIsWrittenIsWhatTheNextRunUses) {
  E executor = Cpu{.threads = 1}.compile<Model>();
  executor.initialize();
  executor.for_each_variable([](std::string_view name, auto elements, std::span<const std::int64_t>) {
    if (name != "w") return false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<typename decltype(elements)::value_type>(i % 70);
    }
    return true;
  });
  typename E::Workspace workspace;
  executor.run<Y>(workspace, Feed<Name<"x">, std::vector<float>>{ones});
  for (std::int64_t j = 0; j < 70; ++j)
    EXPECT_EQ(executor.fetch<Name<"y">>(workspace)(1, j), static_cast<float>(40 * j));
}

TEST(Variables, WithoutAValueARunThatNeedsThemSaysWhich) {
  E executor = Cpu{.threads = 1}.compile<Model>();
  EXPECT_FALSE(executor.variables_initialized());
  EXPECT_EQ(executor.uninitialized_variables(), (std::vector<std::string>{"w", "b", "global_step"}));
  EXPECT_EQ(error_of<Y>(executor, ones),
            "crochet: w has no value yet; call initialize(), restore a checkpoint or write every element first");
  for (float& x : executor.variable(Name<"w">{})) x = 1;
  EXPECT_EQ(executor.uninitialized_variables(), (std::vector<std::string>{"b", "global_step"}));
  EXPECT_EQ(error_of<Y>(executor, ones), "") << "what this run needs is there";
  EXPECT_NE((error_of<Demand<Names<Name<"b twice">>, Names<>>>(executor, ones)), "");
  Collect seen;
  EXPECT_THROW(static_cast<const E&>(executor).for_each_variable(seen), UninitializedError);
  executor.initialize();
  EXPECT_TRUE(executor.variables_initialized());
  EXPECT_EQ((error_of<Demand<Names<Name<"b twice">>, Names<>>>(executor, ones)), "");
}

TEST(Variables, AreInitializedByWhoWritesThemAndNotByWhoLeavesThemAlone) {
  E executor = Cpu{.threads = 1}.compile<Model>();
  executor.for_each_variable([](std::string_view name, auto, std::span<const std::int64_t>) { return name == "b"; });
  EXPECT_EQ(executor.uninitialized_variables(), (std::vector<std::string>{"w", "global_step"}));
  executor.for_each_variable([](std::string_view, auto, std::span<const std::int64_t>) {});
  EXPECT_TRUE(executor.variables_initialized());
}

TEST(Variables, OfAStepFunctionAreWhatItsOwnerNames) {
  std::vector<float> u{1, 2, 3, 4, 5, 6};
  double time = 0.5;
  StepExecutor step{[&](auto& out) { out["u0"_n] = u[0]; }, output<float, "u0">, variable<"u">(u, {2, 3}),
                    variable<"t">(time), variable<"flat">(u)};
  static_assert(HasVariables<decltype(step)>);
  static_assert(!HasVariables<decltype(StepExecutor{[](auto&) {}})>);
  Collect seen;
  static_cast<const decltype(step)&>(step).for_each_variable(seen);
  EXPECT_EQ(seen.all["u"].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(seen.all["flat"].shape, (std::vector<std::int64_t>{6}));
  EXPECT_EQ(seen.all["t"].elements, std::vector<double>{0.5});
  EXPECT_TRUE(seen.all["t"].shape.empty());
  EXPECT_EQ(seen.all["t"].type, "double");
  step.for_each_variable([](std::string_view name, auto elements, std::span<const std::int64_t>) {
    if (name == "t") elements[0] = 7;
  });
  EXPECT_EQ(time, 7);
  EXPECT_TRUE(step.variables_initialized());
  u.resize(5);
  EXPECT_THROW(step.for_each_variable(Collect{}), ShapeError);
}

}  // namespace variables_test
}  // namespace crochet

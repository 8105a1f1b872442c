// SPDX-License-Identifier: Apache-2.0
// The CPU executor's guarantees to its caller: nothing unfetched is computed, errors of feeds are clear, results repeat
// for the same number of threads, and a fetch returns the values after the run.
#include <array>
#include <thread>

#include "../against_oracle.hpp"

namespace crochet {
namespace executor_test {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch"), time = g.dynamic("time");
    const Tensor x = g.placeholder<float>("x", {batch, 20}), rate = g.placeholder<double>("rate", {});
    const Tensor frames = g.placeholder<float>("frames", {batch, time, 2}),
                 pair = g.placeholder<float>("pair", {2, batch * 3});
    const Tensor on = g.placeholder<bool>("on", {2});
    const Tensor w = g.variable<float>("w", {20, 30}, glorot_uniform());
    const Tensor h = g.name("h", matmul(x, w));
    const Tensor y = g.name("y", tanh(h));
    g.name("z", reduce_mean(matmul(y, y, {.a = true, .b = false})));
    g.name("w again", w);
    g.name("w flat", reshape(w, {600}));
    g.name("doubled", rate * 2);
    g.name("of frames", reduce_sum(frames, {1}));
    g.name("of pair", reduce_sum(pair));
    g.name("chosen", select(on, g.constant(1.F), g.constant(2.F)));
    g.name("train", g.assign(w, w - 0.001 * gradient(g["z"], w)));
    g.name("step", g.assign(g.variable<std::int64_t>("global_step", {}, zeros(), false), g["global_step"] + 1));
  }
};
using E = cpu::Executor<kernel::Tiles, Model>;

template <FixedString... F>
using Fetch = Demand<Names<Name<F>...>, Names<>>;
template <FixedString... T>
using Target = Demand<Names<>, Names<Name<T>...>>;
template <class D>
constexpr std::size_t steps = E::plan_of<D>::plan.step_count;

TEST(Executor, ComputesNothingThatIsNotWanted) {
  static_assert(steps<Demand<Names<>, Names<>>> == 0);
  static_assert(steps<Fetch<"w">> == 0 && steps<Fetch<"x">> == 0 && steps<Fetch<"w flat">> == 0);
  static_assert(steps<Fetch<"h">> == 1 && steps<Fetch<"y">> == 1 && steps<Fetch<"h", "y">> == 1);
  static_assert(steps<Fetch<"doubled">> == 1 && steps<Target<"step">> == 1 && steps<Target<"h">> <= 1);
  static_assert(steps<Fetch<"z">> == 3 && steps<Target<"train">> > 3);
  static_assert(E::plan_of<Fetch<"h">>::plan.slot_count == 1 && E::plan_of<Fetch<"h", "y">>::plan.slot_count == 2);
}

TEST(Executor, KnowsItsNames) {
  const auto has = [](const auto& table, std::string_view name) {
    return std::find(table.begin(), table.end(), name) != table.end();
  };
  static_assert(Executor<E>);
  EXPECT_EQ(E::feedable.size(), 5U);
  EXPECT_TRUE(has(E::feedable, "rate"));
  EXPECT_FALSE(has(E::feedable, "w"));
  EXPECT_TRUE(has(E::fetchable, "w") && has(E::fetchable, "x") && has(E::fetchable, "z") && has(E::targets, "train"));
  static_assert(std::is_same_v<E::fetched_t<Name<"z">>, float> &&
                std::is_same_v<E::fetched_t<Name<"y">>, TensorView<float, 2>>);
  static_assert(std::is_same_v<E::fetched_t<Name<"doubled">>, double> &&
                std::is_same_v<E::fed_t<Name<"rate">>, double>);
}

TEST(Executor, AcceptsRangesViewsAndScalarsOfTheRightType) {
  using X = Name<"x">;
  static_assert(E::accepts_feed<X, std::span<const float>> && E::accepts_feed<X, std::vector<float>>);
  static_assert(E::accepts_feed<X, std::array<float, 20>> && E::accepts_feed<X, TensorView<float, 2>>);
  static_assert(!E::accepts_feed<X, std::vector<double>> && !E::accepts_feed<X, TensorView<float, 1>> &&
                !E::accepts_feed<X, float>);
  static_assert(E::accepts_feed<Name<"rate">, double> && !E::accepts_feed<Name<"rate">, float> &&
                !E::accepts_feed<Name<"rate">, int>);
  static_assert(E::accepts_feed<Name<"on">, std::array<bool, 2>> && !E::accepts_feed<Name<"on">, std::array<char, 2>>);
}

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() { executor.initialize(); }

  template <class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const ShapeError& e) {
      return e.what();
    }
    return "no error";
  }
  template <FixedString N, class X>
  std::string feeding(const X& x) {
    return error_of([&] { executor.run<Fetch<"doubled">>(workspace, feed<"rate">(1.0), feed<N>(x)); });
  }

  E executor{{.threads = 2, .seed = 3}};
  E::Workspace workspace;
};

TEST_F(ExecutorTest, RefusesFeedsOfTheWrongSizeByNameExpectedAndGiven) {
  const std::vector<float> some(30);
  EXPECT_EQ(feeding<"x">(some), "crochet: placeholder 'x' expects shape [batch, 20] and was given 30 elements");
  EXPECT_EQ(feeding<"x">(TensorView<float, 2>(some.data(), {3, 10})),
            "crochet: placeholder 'x' expects shape [batch=3, 20] and was given shape [3, 10]");
  EXPECT_EQ(feeding<"on">(std::array<bool, 3>{}),
            "crochet: placeholder 'on' expects shape [2] and was given 3 elements");
  EXPECT_EQ(feeding<"rate">(std::vector<double>(2)),
            "crochet: placeholder 'rate' expects shape [] and was given 2 elements");
  EXPECT_EQ(feeding<"frames">(some),
            "crochet: placeholder 'frames' expects shape [batch, time, 2] and was given 30 elements")
      << "two dimensions do not follow from one number";
  EXPECT_EQ(feeding<"pair">(TensorView<float, 2>(some.data(), {2, 10})),
            "crochet: placeholder 'pair' expects shape [2, 3*batch] and was given shape [2, 10]");
  EXPECT_EQ(feeding<"pair">(TensorView<float, 2>(some.data(), {2, 15})), "no error");
}

TEST_F(ExecutorTest, DimensionsOfOneNameHaveOneSize) {
  const std::vector<float> x(60), pair(24);
  EXPECT_EQ(
      error_of([&] { executor.run<Fetch<"doubled">>(workspace, feed<"rate">(1.0), feed<"x">(x), feed<"pair">(pair)); }),
      "crochet: placeholder 'pair' expects shape [2, 3*batch=3] and was given 24 elements");
  const std::vector<float> frames(42);
  executor.run<Fetch<"of frames">>(workspace, feed<"x">(x), feed<"frames">(frames));
  const auto sums = executor.fetch<Name<"of frames">>(workspace);
  EXPECT_EQ(sums.shape(), (std::array<std::int64_t, 2>{3, 2})) << "a batch of 3 is known, so there are 7 frames";
}

TEST_F(ExecutorTest, ARefusedFeedLeavesTheExecutorUsable) {
  EXPECT_NE(feeding<"x">(std::vector<float>(21)), "no error");
  EXPECT_EQ(feeding<"x">(std::vector<float>(40)), "no error");
  EXPECT_EQ(executor.fetch<Name<"doubled">>(workspace), 2);
}

TEST_F(ExecutorTest, FetchesFedValuesAndVariablesAndViews) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  executor.run<Fetch<"x", "w", "w again", "w flat">>(workspace, feed<"x">(x));
  EXPECT_EQ(executor.fetch<Name<"x">>(workspace).data(), x.data()) << "nothing is copied";
  const auto w = executor.fetch<Name<"w">>(workspace);
  EXPECT_EQ(w.shape(), (std::array<std::int64_t, 2>{20, 30}));
  EXPECT_EQ(w.data(), executor.variable(Name<"w">{}).data());
  EXPECT_EQ(executor.fetch<Name<"w again">>(workspace).data(), w.data());
  EXPECT_EQ(executor.fetch<Name<"w flat">>(workspace).size(), 600U);
}

TEST_F(ExecutorTest, AFetchedVariableIsTheOneAfterTheRun) {
  executor.run<Demand<Names<Name<"global_step">>, Names<Name<"step">>>>(workspace);
  EXPECT_EQ(executor.fetch<Name<"global_step">>(workspace), 1);
  executor.run<Demand<Names<Name<"global_step">>, Names<Name<"step">>>>(workspace);
  EXPECT_EQ(executor.fetch<Name<"global_step">>(workspace), 2);
  EXPECT_EQ(executor.global_step(), 2);
}

TEST_F(ExecutorTest, VariablesCanBeReadAndOverwrittenBetweenRuns) {
  for (float& x : executor.variable(Name<"w">{})) x = 0.5F;
  const std::vector<float> x(20, 1);
  executor.run<Fetch<"h">>(workspace, feed<"x">(x));
  for (float y : executor.fetch<Name<"h">>(workspace)) EXPECT_EQ(y, 10);
  executor.variable(Name<"global_step">{})[0] = 41;
  executor.run<Target<"step">>(workspace);
  EXPECT_EQ(executor.global_step(), 42);
}

TEST_F(ExecutorTest, BoolsCanBeFed) {
  executor.run<Fetch<"chosen">>(workspace, feed<"on">(std::array<bool, 2>{true, false}));
  const auto chosen = executor.fetch<Name<"chosen">>(workspace);
  EXPECT_EQ(chosen(0), 1);
  EXPECT_EQ(chosen(1), 2);
}

TEST_F(ExecutorTest, WorkspacesDoNotDisturbEachOther) {
  E::Workspace other;
  const std::vector<float> ones(20, 1), twos(40, 2);
  executor.run<Fetch<"h">>(workspace, feed<"x">(ones));
  const float before = executor.fetch<Name<"h">>(workspace)(0, 0);
  executor.run<Fetch<"h">>(other, feed<"x">(twos));
  EXPECT_EQ(executor.fetch<Name<"h">>(workspace)(0, 0), before);
  EXPECT_EQ(executor.fetch<Name<"h">>(other).extent(0), 2);
  E::Workspace moved = std::move(workspace);
  EXPECT_EQ(executor.fetch<Name<"h">>(moved)(0, 0), before);
}

TEST_F(ExecutorTest, CanBeMoved) {
  const std::vector<float> w(executor.variable(Name<"w">{}).begin(), executor.variable(Name<"w">{}).end());
  E moved = std::move(executor);
  EXPECT_TRUE(std::equal(w.begin(), w.end(), moved.variable(Name<"w">{}).begin()));
  moved.run<Fetch<"h">>(workspace, feed<"x">(std::vector<float>(20, 1)));
  EXPECT_EQ(moved.threads(), 2);
}

TEST(Executor, RepeatsItsResultsForTheSameNumberOfThreads) {
  for (int threads = 1; threads <= 3; ++threads) {
    std::vector<std::vector<float>> results;
    for (int run = 0; run < 2; ++run) {
      E executor({threads, 7});
      executor.initialize();
      E::Workspace w;
      const std::vector<double> random = Numbers(5).many(20 * 67);
      const std::vector<float> x(random.begin(), random.end());
      for (int i = 0; i < 3; ++i) executor.run<Demand<Names<Name<"z">>, Names<Name<"train">>>>(w, feed<"x">(x));
      results.emplace_back(executor.variable(Name<"w">{}).begin(), executor.variable(Name<"w">{}).end());
      results.back().push_back(executor.fetch<Name<"z">>(w));
    }
    EXPECT_EQ(results[0], results[1]) << threads << " threads";
  }
}

// So many runs that the choice of threads is made, with tries of every number.
TEST(Executor, TheNumberOfThreadsThatRunDoesNotChangeTheBits) {
  const auto variables = [](cpu::Settings settings) {
    E executor(settings);
    executor.initialize();
    E::Workspace w;
    const std::vector<double> random = Numbers(5).many(20 * 67);
    const std::vector<float> x(random.begin(), random.end());
    for (int i = 0; i < 150; ++i) executor.run<Demand<Names<Name<"z">>, Names<Name<"train">>>>(w, feed<"x">(x));
    std::vector<float> all(executor.variable(Name<"w">{}).begin(), executor.variable(Name<"w">{}).end());
    all.push_back(executor.fetch<Name<"z">>(w));
    return all;
  };
  const auto chosen = variables({.threads = 4, .seed = 7});
  for (int running = 1; running <= 4; ++running) {
    EXPECT_EQ(variables({.threads = 4, .seed = 7, .running = running}), chosen) << running << " running";
  }
}

TEST(Executor, NoNumberOfThreadsIsAsManyAsTheProcessMayUse) {
  EXPECT_EQ(E({.threads = 0}).threads(), cpu::usable_processors());
  EXPECT_EQ(Cpu{}.compile<Model>().threads(), cpu::usable_processors());
}
TEST(Executor, ANegativeNumberOfThreadsIsAnError) {
  try {
    E executor({.threads = -3});
    ADD_FAILURE() << executor.threads();
  } catch (const LogicError& error) {
    EXPECT_EQ(error.what(), std::string("crochet: Cpu's threads is -3; give the number of threads, or 0 for as many as "
                                        "the process has processors"));
  }
}

TEST(Cpu, CompilesAModel) {
  auto executor = Cpu{.threads = 2, .seed = 9}.compile<Model>();
  static_assert(std::is_same_v<decltype(executor), E>);
  EXPECT_EQ(executor.threads(), 2);
  EXPECT_EQ(executor.settings().seed, 9U);
}

}  // namespace executor_test
}  // namespace crochet

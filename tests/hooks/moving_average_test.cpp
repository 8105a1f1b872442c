// SPDX-License-Identifier: Apache-2.0
// MovingAverage: follows the weights, can be swapped in for a while, and goes on exactly after a resume.
#include <crochet/crochet.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/kit/weight_averages.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../refusal.hpp"
#include "growing_model.hpp"

namespace moving_average_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::test::SessionOf;
using Lines = std::vector<std::string>;
using Model = cr::test::GrowingModel;

using crochet::test::refusal;

TEST(MovingAverage, FollowsTheWeights) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.75}};
  SessionOf<decltype(chain)> session{executor, chain};
  EXPECT_EQ(averages.names(), (Lines{"w", "b"})) << "count is no floating number";
  double expected = 0;
  for (int i = 1; i <= 3; ++i) {
    session.run();
    expected = 0.75 * expected + 0.25 * i;
  }
  EXPECT_EQ(averages.updates(), 3);
  averages.swap();
  EXPECT_TRUE(averages.are_swapped());
  EXPECT_EQ(model.w, (std::vector<float>{static_cast<float>(expected), static_cast<float>(10 + expected)}));
  EXPECT_EQ(model.b, 100 + expected);
  EXPECT_EQ(model.count, 3);
  averages.swap();
  EXPECT_EQ(model.w, (std::vector<float>{3, 13}));
  EXPECT_EQ(model.b, 103);
  session.close();
}

TEST(MovingAverage, WarmsUpAsTheOriginalDoes) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.2, .warm_up = true}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();  // decay 1/10
  session.run();  // decay 2/11
  session.run();  // min(0.2, 3/12)
  session.close();
  const double first = 0.1 * 100 + 0.9 * 101, second = (2 * first + 9 * 102) / 11;
  const auto scope = averages.swap_for_a_while();
  EXPECT_DOUBLE_EQ(model.b, 0.2 * second + 0.8 * 103);
}

TEST(MovingAverage, EveryNStepsAndOnlyWhatIsIncluded) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{
      .averages = averages, .decay = 0.5, .every_steps = 2, .include = [](auto name) { return name == "b"; }}};
  SessionOf<decltype(chain)> session{executor, chain};
  for (int i = 0; i < 5; ++i) session.run();
  session.close();
  EXPECT_EQ(averages.names(), Lines{"b"});
  EXPECT_EQ(averages.updates(), 2);
  const auto scope = averages.swap_for_a_while();
  EXPECT_EQ(model.b, 102.5) << "(100 + 102) / 2 = 101, (101 + 104) / 2";
  EXPECT_EQ(model.w[0], 5) << "as it was";
}

TEST(MovingAverage, EvaluationHasTheAverages) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  std::vector<double> seen;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0},
                      cr::Evaluate{cr::fetches<"sum">,
                                   std::vector{cr::feeds()},
                                   {.every_steps = 2, .during = averages.swapped(), .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  model.b = 1000;  // a side run's change of the averaged weights is dropped
  session.run();
  EXPECT_EQ(model.b, 1001);
  EXPECT_FALSE(averages.are_swapped());
  session.close();
  EXPECT_EQ(chain.at<1>().latest()["sum"_n], 2 + 12 + 1001 + 3) << "the pass made a step of the averages";
}

TEST(MovingAverage, AScopeInAScopeKeepsTheAverages) {
  Model model;
  const cr::WeightAverages averages;
  auto executor = model.executor();
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.75}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  const auto weight = model.b;
  {
    const auto outer = averages.swap_for_a_while();
    const auto average = model.b;
    EXPECT_NE(average, weight);
    {
      const auto inner = averages.swap_for_a_while();
      EXPECT_EQ(model.b, average) << "what is saved during an evaluation of the averages";
    }
    EXPECT_EQ(model.b, average);
  }
  EXPECT_EQ(model.b, weight);
}

TEST(MovingAverage, TheLastOfSeveralScopesSwapsBack) {
  Model model;
  const cr::WeightAverages averages;
  auto executor = model.executor();
  averages.bind(executor, {});
  model.b = 2;
  auto first = averages.swap_for_a_while();
  const auto second = averages.swap_for_a_while();
  first.reset();
  EXPECT_TRUE(averages.are_swapped());
}

TEST(MovingAverage, AScopeThatOutlivesItsSessionChangesNothing) {
  Model model;
  auto executor = model.executor();
  const cr::WeightAverages averages;
  for (const bool anew : {true, false}) {
    model.b = 1;
    averages.clear();
    averages.bind(executor, {});
    model.b = 2;
    auto scope = averages.swap_for_a_while();
    EXPECT_EQ(model.b, 1);
    model.b = 3;  // a new session restored this value from a checkpoint
    averages.clear();
    if (anew) averages.bind(executor, {});
    scope.reset();
    EXPECT_EQ(model.b, 3);
    EXPECT_FALSE(averages.are_swapped());
  }
}

/// An executor that is lost after one visit of its variables.
struct LostExecutor {
  float w = 1;
  int visits = 0;
  void for_each_variable(auto visit) {
    if (++visits > 2) throw cr::DeviceError("crochet: the GPU is lost");
    (void)visit(std::string_view("w"), std::span<float>(&w, 1), true);
  }
};
TEST(MovingAverage, AScopeThatCannotSwapBackEndsWithADiagnostic) {
  LostExecutor executor;
  const cr::WeightAverages averages;
  averages.bind(executor, {});
  auto scope = averages.swap_for_a_while();
  static int said = 0;
  const auto before = cr::set_diagnostic_sink([](std::string_view) { ++said; });
  scope.reset();
  cr::set_diagnostic_sink(before);
  EXPECT_TRUE(averages.are_swapped());
  EXPECT_EQ(said, 1);
}

TEST(MovingAverage, ARunOfAveragedWeightsIsAnError) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages}};
  SessionOf<decltype(chain)> session{executor, chain};
  averages.swap();
  EXPECT_NE(refusal([&] { session.run(); }).find("swap them back"), std::string::npos);
  session.close();
  EXPECT_NE(refusal([] { cr::WeightAverages{}.swap(); }), "");
  EXPECT_NE(refusal([] { cr::MovingAverage{.decay = 1}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::MovingAverage{.decay = -0.1}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::MovingAverage{.every_steps = 0}.begin(); }), "");
}

TEST(MovingAverage, ItsStateGoesOnExactly) {
  cr::testing::StateBox box;
  const auto run = [&](int from, int to, Model& model, bool load, bool save) {
    auto executor = model.executor();
    cr::WeightAverages averages;
    cr::MovingAverage hook{.averages = averages, .decay = 0.9, .warm_up = true};
    cr::Coordinator coordinator;
    cr::RawSession raw{executor, from};
    hook.begin();
    if (load) hook.load_state(box);
    hook.after_create_session(raw, coordinator);
    cr::StopState stop;
    cr::HookChain chain{hook};
    for (int i = from; i < to; ++i) cr::detail::hooked_run(raw, chain, stop, cr::RunArgs{});
    if (save) hook.save_state(box);
    averages.swap();
    const std::pair result{model.w, model.b};
    averages.swap();
    return result;
  };
  Model whole, parts;
  const auto expected = run(0, 7, whole, false, false);
  run(0, 3, parts, false, true);
  EXPECT_EQ(run(3, 7, parts, true, false), expected);
}

TEST(MovingAverage, ItsStateHasTheAveragesAlsoWhileTheyAreSwapped) {
  Model model;
  auto executor = model.executor();
  const cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.75}};
  SessionOf<decltype(chain)> session{executor, chain};
  for (int run = 0; run < 3; ++run) session.run();
  averages.swap();
  const std::pair averaged{model.w, model.b};
  cr::testing::StateBox box;
  chain.at<0>().save_state(box);
  EXPECT_EQ((std::pair{model.w, model.b}), averaged) << "they are swapped still";
  averages.swap();
  EXPECT_EQ(model.b, 103);
  session.close();

  Model resumed;
  auto other_executor = resumed.executor();
  const cr::WeightAverages loaded;
  cr::MovingAverage hook{.averages = loaded, .decay = 0.75};
  cr::Coordinator coordinator;
  cr::RawSession raw{other_executor, 3};
  hook.begin();
  hook.load_state(box);
  hook.after_create_session(raw, coordinator);
  loaded.swap();
  EXPECT_EQ((std::pair{resumed.w, resumed.b}), averaged);
}

TEST(MovingAverage, NeedsAVariable) {
  Model model;
  auto executor = model.executor();
  cr::HookChain chain{cr::MovingAverage{.averages = {}, .include = [](auto) { return false; }}};
  EXPECT_NE(refusal([&] {
              const SessionOf<decltype(chain)> session{executor, chain};
            }).find("no variable to average"),
            std::string::npos);
}

/// A new session has the first weights again, but for the first session.
struct BeginsAnew {
  Model* model;
  void create_session(auto& session, auto& /*coordinator*/) const {
    if (session.creation() == 1) return;
    *model = {.b = 200};
    session.set_step(0);
  }
};
struct LosesTheSession {
  int run;
  void before_run(auto&) {
    if (--run == 0) throw cr::AbortedError("lost");
  }
};
TEST(MovingAverage, ARecoveryThatBeginsAnewForgetsTheAverages) {
  for (const std::int64_t every : {1, 2, 10}) {
    Model model;
    auto executor = model.executor();
    const cr::WeightAverages averages;
    cr::MonitoredSession session{
        executor,
        cr::HookChain{cr::MovingAverage{.averages = averages, .every_steps = every}, LosesTheSession{.run = 4}},
        BeginsAnew{&model}, cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    for (int run = 1; run <= 3; ++run) session.run();
    EXPECT_EQ(averages.updates(), 3 / every);
    session.run_step_fn([](auto& step) {
      if (step.session().creation() == 1) step.run_with_hooks();
    });
    EXPECT_EQ(averages.updates(), 0) << every;
    averages.swap();
    EXPECT_EQ(model.b, 200) << every;
    averages.swap();
    session.close();
  }
}

TEST(MovingAverage, StateOfOtherVariablesIsNotUsed) {
  cr::testing::StateBox box;
  box.put("updates", std::int64_t{5});
  box.put("names", Lines{"w", "gone"});
  box.put("sizes", std::vector<std::int64_t>{3, 0, 99, 0});
  box.put("floats", std::vector<float>{7, 7, 7, 7});
  box.put("doubles", std::vector<double>{});
  Model model;
  auto executor = model.executor();
  cr::RawSession raw{executor};
  cr::Coordinator coordinator;
  cr::MovingAverage hook;
  hook.begin();
  hook.load_state(box);
  hook.after_create_session(raw, coordinator);
  hook.averages.swap();
  EXPECT_EQ(model.w, (std::vector<float>{0, 10})) << "the saved one had three elements";
}

/// The warm-up divides by 10 more than the number.
TEST(MovingAverage, ANumberOfUpdatesThatNoTrainingHasIsTheNearestOne) {
  for (const std::int64_t updates : {std::int64_t{-10}, std::numeric_limits<std::int64_t>::max()}) {
    cr::testing::StateBox box;
    box.put("updates", updates);
    box.put("names", Lines{});
    box.put("sizes", std::vector<std::int64_t>{});
    box.put("floats", std::vector<float>{});
    box.put("doubles", std::vector<double>{});
    Model model;
    auto executor = model.executor();
    const cr::WeightAverages averages;
    averages.load_state(box);
    EXPECT_GE(averages.updates(), 0);
    averages.bind(executor, {});
    averages.update(executor, 0.5);
    EXPECT_GE(averages.updates(), 1);
  }
}

}  // namespace moving_average_test

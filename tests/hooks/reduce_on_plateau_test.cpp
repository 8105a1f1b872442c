// SPDX-License-Identifier: Apache-2.0
// ReduceOnPlateau and ReduceOnMetricPlateau: the learning rate that they feed or write to a variable.
#include <crochet/crochet.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/reduce_on_plateau.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../refusal.hpp"

namespace reduce_on_plateau_test {

namespace cr = crochet;
using cr::MetricChannel;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

using crochet::test::refusal;

TEST(ReduceOnPlateau, FeedsTheRateAndLooksAtMeans) {
  RecordingSink sink;
  Script run{
      cr::ReduceOnPlateau<"loss">{
          .rule = {.aim = cr::Aim::lowest, .rate = 0.5, .factor = 0.1, .patience = 1}, .every_steps = 2, .sink = sink},
      cr::placeholder<float, "learning_rate">};
  std::vector<double> fed;
  for (const float loss : {1.0f, 3.0f, 3.0f, 1.0f, 0.0f}) {
    run.step(cr::value<"loss">(loss));
    fed.push_back(run.log().fed_scalars["learning_rate"]);
  }
  EXPECT_EQ(fed, (std::vector<double>{0.5, 0.5, 0.5, 0.5, 0.05f})) << "2 and 2 on average: no better";
  EXPECT_EQ(sink.lines(), Lines{"loss is not lower than 2.0, of step 2; learning_rate = 0.05 from step 4 on"});
}

TEST(ReduceOnPlateau, AMeanIsOfTheRunsOfItsInterval) {
  cr::HookChain chain{cr::ReduceOnPlateau<"loss">{
      .rule = {.aim = cr::Aim::lowest}, .every_steps = 2, .anchor = cr::Anchor::first_run, .sink = [](auto) {}}};
  Script run{chain, cr::placeholder<float, "learning_rate">};
  for (const float loss : {8.0f, 1.0f, 3.0f}) run.step(cr::value<"loss">(loss));
  EXPECT_EQ(run.hook().rule.seen.best, 2) << "the first run only begins the interval";
}

TEST(ReduceOnPlateau, OfASessionInWhichItIsOffKeepsItsRate) {
  const cr::PlateauRate rule{.aim = cr::Aim::lowest, .rate = 0.5};
  const auto rate_after = [](auto off, auto on) {
    off.begin();
    cr::testing::StateBox box;
    off.save_state(box);
    on.begin();
    on.load_state(box);
    return on.hook.rate();
  };
  const cr::ReduceOnPlateau<"loss"> steps{.rule = rule, .every_steps = 2};
  using Steps = cr::Switched<cr::ReduceOnPlateau<"loss">>;
  EXPECT_EQ(rate_after(Steps{steps, {.on = false}}, Steps{steps}), 0.5);
  const cr::ReduceOnMetricPlateau<> metric{.metrics = {}, .metric = "accuracy", .rule = rule};
  using Metric = cr::Switched<cr::ReduceOnMetricPlateau<>>;
  EXPECT_EQ(rate_after(Metric{metric, {.on = false}}, Metric{metric}), 0.5);
}

TEST(ReduceOnPlateau, AStepBackBeginsTheIntervalAnew) {
  struct Session {
    std::int64_t at;
    [[nodiscard]] std::int64_t step() const { return at; }
    [[nodiscard]] static int creation() { return 2; }
  };
  cr::Coordinator coordinator;
  Script run{cr::ReduceOnPlateau<"loss">{.rule = {.aim = cr::Aim::lowest}, .every_steps = 2, .sink = [](auto) {}},
             cr::placeholder<float, "learning_rate">};
  for (const float loss : {5.0f, 5.0f, 8.0f}) run.step(cr::value<"loss">(loss));
  Session recovered{0};
  run.set_step(0);
  run.hook().after_create_session(recovered, coordinator);
  for (const float loss : {1.0f, 3.0f}) run.step(cr::value<"loss">(loss));
  EXPECT_EQ(run.hook().rule.seen.best, 2);
}

/// The first interval has no step of its own that shows it.
TEST(ReduceOnPlateau, ARecoveryWithinTheFirstIntervalBeginsItAnew) {
  struct Anew {
    [[nodiscard]] static std::int64_t step() { return 0; }
    [[nodiscard]] static int creation() { return 2; }
  };
  cr::Coordinator coordinator;
  Script run{cr::ReduceOnPlateau<"loss">{.rule = {.aim = cr::Aim::lowest}, .every_steps = 2, .sink = [](auto) {}},
             cr::placeholder<float, "learning_rate">};
  run.step(cr::value<"loss">(8.0f));
  Anew session;
  run.set_step(0);
  run.hook().after_create_session(session, coordinator);
  for (const float loss : {1.0f, 3.0f}) run.step(cr::value<"loss">(loss));
  EXPECT_EQ(run.hook().rule.seen.best, 2);
}

/// A checkpoint between two runs of one step has a sum.
TEST(ReduceOnPlateau, ARecoveryHasTheSumThatItLoads) {
  struct Restored {
    [[nodiscard]] static std::int64_t step() { return 0; }
    [[nodiscard]] static int creation() { return 2; }
  };
  cr::Coordinator coordinator;
  Script run{cr::ReduceOnPlateau<"loss">{.rule = {.aim = cr::Aim::lowest}, .every_steps = 2, .sink = [](auto) {}},
             cr::placeholder<float, "learning_rate">};
  run.step(cr::value<"loss">(9.0f));
  cr::testing::StateBox saved;
  run.hook().save_state(saved);
  run.hook().load_state(saved);
  Restored session;
  run.set_step(0);
  run.hook().after_create_session(session, coordinator);
  for (const float loss : {1.0f, 2.0f}) run.step(cr::value<"loss">(loss));
  EXPECT_EQ(run.hook().rule.seen.best, 4);
}

TEST(ReduceOnPlateau, AfterARecoveryThatInitializesAnewTheRateIsTheFirst) {
  struct Anew {
    [[nodiscard]] static std::int64_t step() { return 0; }
    [[nodiscard]] static int creation() { return 2; }
  };
  cr::Coordinator coordinator;
  Anew session;
  const cr::PlateauRate rule{.aim = cr::Aim::lowest, .rate = 0.5, .patience = 1};
  Script steps{cr::ReduceOnPlateau<"loss">{.rule = rule, .every_steps = 1, .sink = [](auto) {}},
               cr::placeholder<float, "learning_rate">};
  const MetricChannel metrics;
  Script metric{cr::ReduceOnMetricPlateau<>{.metrics = metrics, .metric = "loss", .rule = rule, .sink = [](auto) {}},
                cr::placeholder<float, "learning_rate">};
  for (std::int64_t step = 1; step < 4; ++step) {
    steps.step(cr::value<"loss">(1.0f));
    metrics.publish("loss", step, 1);
    metric.step();
  }
  ASSERT_LT(steps.hook().rate(), 0.5);
  ASSERT_LT(metric.hook().rate(), 0.5);
  steps.hook().after_create_session(session, coordinator);
  metric.hook().after_create_session(session, coordinator);
  EXPECT_EQ(steps.hook().rate(), 0.5);
  EXPECT_EQ(metric.hook().rate(), 0.5);
  EXPECT_EQ(metric.hook().rule.seen.best_step, -1);
}

/// An executor that can be saved, with a learning rate among its variables.
struct WithVariable {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = float;

  template <class D>
  void run(Workspace&) {
    used.push_back(rate);
  }
  template <class N>
  float fetch(Workspace&) {
    return 1.0f;
  }
  template <class Visit>
  void for_each_variable(Visit visit) {
    const std::int64_t shape[] = {3};
    visit("weights", std::span<float>{weights}, std::span<const std::int64_t>{shape});
    visit("learning_rate", std::span<float>{&rate, 1}, std::span<const std::int64_t>{});
  }
  float weights[3]{};
  float rate = 7;
  std::vector<float> used{};
};

TEST(ReduceOnPlateau, WritesAVariableWhereThereIsNoPlaceholder) {
  WithVariable model;
  cr::HookChain chain{cr::ReduceOnPlateau<"loss">{
      .rule = {.aim = cr::Aim::lowest, .rate = 0.5, .factor = 0.5, .patience = 1}, .every_steps = 1, .sink = [](auto) {
      }}};
  cr::MonitoredSession<WithVariable&, decltype(chain)&> session{model, chain};
  for (int i = 0; i < 3; ++i) session.run();
  model.rate = 9;
  session.run();
  session.close();
  EXPECT_EQ(model.used, (std::vector<float>{0.5f, 0.5f, 0.25f, 0.125f}));
}

TEST(ReduceOnPlateau, SaysWhatIsMissing) {
  WithVariable model;
  cr::HookChain chain{cr::ReduceOnPlateau<"loss", "rat">{.rule = {.aim = cr::Aim::lowest}, .sink = [](auto) {}}};
  cr::MonitoredSession<WithVariable&, decltype(chain)&> session{model, chain};
  EXPECT_EQ(refusal([&] { session.run(); }),
            "crochet: there is no placeholder and no scalar variable \"rat\" that a hook could set");
  session.close();
}

TEST(ReduceOnMetricPlateau, LooksOnceForEachValue) {
  MetricChannel metrics;
  RecordingSink sink;
  Script run{
      cr::ReduceOnMetricPlateau<"rate">{.metrics = metrics,
                                        .metric = "accuracy",
                                        .rule = {.aim = cr::Aim::highest, .rate = 1, .factor = 0.5, .patience = 2},
                                        .sink = sink},
      cr::placeholder<double, "rate">};
  std::vector<double> fed;
  for (std::int64_t step = 0; step < 12; ++step) {
    if (step % 3 == 1) metrics.publish("accuracy", step, 0.5);
    if (step % 3 == 2) metrics.publish("loss", step, 0.5);
    run.step();
    fed.push_back(run.log().fed_scalars["rate"]);
  }
  EXPECT_EQ(fed, (std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5}))
      << "0.5 at step 1; not better at 4 and 7";
  EXPECT_EQ(sink.lines(), Lines{"accuracy is not higher than 0.5, of step 1; rate = 0.5 from step 8 on"});
  EXPECT_EQ(run.fetched(), "");
  EXPECT_NE(refusal([] { cr::ReduceOnMetricPlateau<>{.rule = {.aim = cr::Aim::lowest}}.begin(); }), "");
}

}  // namespace reduce_on_plateau_test

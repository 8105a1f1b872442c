// SPDX-License-Identifier: Apache-2.0
// The hooks that act on metrics: early stopping by a MetricChannel, ReduceOnPlateau.
#include <crochet/crochet.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/reduce_on_plateau.hpp>
#include <crochet/hooks/stop_if.hpp>
#include <crochet/hooks/stop_on_predicate.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace metrics_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::MetricChannel;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(MetricChannel, KeepsValuesByStep) {
  MetricChannel metrics;
  EXPECT_TRUE(metrics.history("accuracy").empty());
  EXPECT_FALSE(metrics.latest("accuracy"));
  const MetricChannel same = metrics;
  same.publish("accuracy", 20, 0.2);
  same.publish("accuracy", 10, 0.1);
  same.publish("accuracy", 20, 0.25);
  const auto history = metrics.history("accuracy");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].step, 10);
  EXPECT_EQ(history[1].value, 0.25) << "the later one of a step";
  EXPECT_EQ(metrics.latest("accuracy")->step, 20);
  EXPECT_EQ(metrics.version(), 3u);
}

TEST(MetricChannel, AMisspeltMetricIsVisible) {
  MetricChannel metrics;
  metrics.publish("accuracy", 1, 0.5);
  metrics.publish("loss", 1, 2);
  const std::string text = refusal([&] { (void)metrics.history("acuracy"); });
  EXPECT_EQ(text, "crochet: no metric \"acuracy\" is published; there are: accuracy, loss");
}

TEST(MetricChannel, TakesWhatEvaluateFound) {
  MetricChannel metrics;
  Script run{cr::Evaluate{cr::fetches<"accuracy">,
                          std::vector{cr::feeds(cr::feed<"x">(1.0))},
                          {.every_steps = 2, .at_end = false, .then = metrics, .sink = [](auto) {}}},
             cr::value<"accuracy">(0.75f), cr::placeholder<double, "x">};
  for (int i = 0; i < 5; ++i) run.step();
  const auto history = metrics.history("accuracy");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].step, 2);
  EXPECT_EQ(history[1].step, 4);
  EXPECT_EQ(history[1].value, 0.75);
}

/// The values of an evaluation. Each access checks that the channel is still empty, as a hook on another thread could.
template <class... N>
struct Watched {
  const MetricChannel& metrics;
  std::int64_t step = 7;
  double operator[](auto) const {
    EXPECT_TRUE(metrics.empty());
    return 0.5;
  }
};

TEST(MetricChannel, NobodySeesHalfAnEvaluation) {
  const MetricChannel metrics;
  metrics(Watched<cr::Name<"accuracy">, cr::Name<"loss">>{metrics});
  EXPECT_EQ(metrics.latest("accuracy")->step, 7);
  EXPECT_EQ(metrics.latest("loss")->value, 0.5);
}

TEST(MakeEarlyStopping, AsksInTheFirstRunAndThenAtTheInterval) {
  ManualClock clock;
  int requested = 0;
  Script run{cr::make_early_stopping([&] { return ++requested == 3; }, {.clock = clock})};
  for (const double time : {0.0, 59.0, 60.0, 119.0}) {
    clock.set(time);
    run.step();
  }
  EXPECT_EQ(requested, 2) << "every 60 s if nothing is said: at 0 and 60";
  clock.set(120);
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the function of early stopping said so");
  EXPECT_EQ(run.fetched(), "");
}

TEST(MakeEarlyStopping, StepsNeedNoSecondsTakenBack) {
  int requested = 0;
  Script run{cr::make_early_stopping([&] { return ++requested > 100; }, {.run_every_steps = 3})};
  for (int i = 0; i < 7; ++i) run.step();
  EXPECT_EQ(requested, 2) << "steps 3 and 6";
  const auto never = [] { return false; };
  EXPECT_NE(refusal([&] { cr::make_early_stopping(never, {.run_every_seconds = 60, .run_every_steps = 1}).begin(); }),
            "");
  EXPECT_NE(refusal([&] { cr::make_early_stopping(never, {.run_every_steps = 0}).begin(); }), "");
}

TEST(MakeEarlyStopping, AnotherSessionFollowsByTheSignal) {
  const cr::StopSignal signal;
  bool enough = false;
  Script chief{cr::make_early_stopping([&] { return enough; }, {.run_every_steps = 1, .signal = signal})};
  Script worker{cr::CheckForStopping{.signal = signal}};
  chief.step();
  worker.step();
  EXPECT_FALSE(worker.should_stop());
  enough = true;
  chief.step();
  EXPECT_TRUE(chief.should_stop());
  EXPECT_FALSE(worker.should_stop());
  worker.step();
  EXPECT_TRUE(worker.should_stop()) << "in its next run";
  EXPECT_EQ(worker.stop_reason(), "the function of early stopping said so");
}

TEST(MakeEarlyStopping, TwoHooksAreAnOr) {
  Script run{cr::HookChain{cr::make_early_stopping([] { return false; }, {.run_every_steps = 1}),
                           cr::make_early_stopping([] { return true; }, {.run_every_steps = 1})}};
  run.step();
  EXPECT_TRUE(run.should_stop());
}

/// The metrics for the tests of the original's factories: losses and accuracies at steps 1000, 2000, 3000, 3500.
MetricChannel history() {
  MetricChannel metrics;
  const std::int64_t steps[] = {1000, 2000, 3000, 3500};
  const double losses[] = {0.8, 0.7, 0.4, 0.41}, accuracies[] = {0.5, 0.6, 0.9, 0.7};
  for (int i = 0; i < 4; ++i) {
    metrics.publish("loss", steps[i], losses[i]);
    metrics.publish("accuracy", steps[i], accuracies[i]);
  }
  return metrics;
}
/// Whether the hook stops a session in its first run.
template <class Hook>
bool stops(Hook hook) {
  Script run{std::move(hook)};
  run.step();
  return run.should_stop();
}

TEST(StopIf, HigherAndLower) {
  const auto m = history();
  EXPECT_TRUE(stops(cr::stop_if_higher(m, "accuracy", 0.8)));
  EXPECT_FALSE(stops(cr::stop_if_higher(m, "accuracy", 0.9))) << "strictly beyond";
  EXPECT_TRUE(stops(cr::stop_if_higher(m, "accuracy", 0.8, {.min_steps = 3000})));
  EXPECT_FALSE(stops(cr::stop_if_higher(m, "accuracy", 0.8, {.min_steps = 3200})));
  EXPECT_TRUE(stops(cr::stop_if_lower(m, "loss", 0.5)));
  EXPECT_FALSE(stops(cr::stop_if_lower(m, "loss", 0.4)));
  EXPECT_FALSE(stops(cr::stop_if_lower(m, "loss", 0.41, {.min_steps = 3500})));
}

TEST(StopIf, NoIncreaseAndNoDecrease) {
  const auto m = history();
  EXPECT_TRUE(stops(cr::stop_if_no_increase(m, "accuracy", 500))) << "0.9 at 3000, and nothing better until 3500";
  EXPECT_FALSE(stops(cr::stop_if_no_increase(m, "accuracy", 501)));
  EXPECT_TRUE(stops(cr::stop_if_no_decrease(m, "loss", 500)));
  EXPECT_FALSE(stops(cr::stop_if_no_decrease(m, "loss", 501)));
  EXPECT_TRUE(stops(cr::stop_if_no_decrease(m, "accuracy", 1000))) << "0.5 at 1000 is never undercut";
  EXPECT_FALSE(stops(cr::stop_if_no_decrease(m, "accuracy", 1000, {.min_steps = 3000}))) << "0.9, then 0.7";
  EXPECT_FALSE(stops(cr::stop_if_no_increase(m, "accuracy", 500, {.min_steps = 3500}))) << "one value only";
}

TEST(StopIf, SaysWhy) {
  Script lower{cr::stop_if_lower(history(), "loss", 0.5)};
  lower.step();
  EXPECT_EQ(lower.stop_reason(), "loss = 0.4 at step 3000 is below 0.5");
  Script stalled{cr::stop_if_no_increase(history(), "accuracy", 500)};
  stalled.step();
  EXPECT_EQ(stalled.stop_reason(), "accuracy is not higher than 0.9, of step 3000, for 500 steps");
}

TEST(StopIf, OnlyStrictImprovementCountsAndNaNIsNone) {
  MetricChannel metrics;
  for (const auto& [step, value] : std::vector<MetricChannel::Entry>{{0, 1}, {10, 1}, {20, nan_value}}) {
    metrics.publish("loss", step, value);
  }
  EXPECT_TRUE(stops(cr::stop_if_no_decrease(metrics, "loss", 20)));
  EXPECT_FALSE(stops(cr::stop_if_no_decrease(metrics, "loss", 21)));
  MetricChannel broken;
  broken.publish("loss", 0, nan_value);
  broken.publish("loss", 5, nan_value);
  Script run{cr::stop_if_no_decrease(broken, "loss", 5)};
  run.step();
  EXPECT_EQ(run.stop_reason(), "loss was not a number for 5 steps");
}

TEST(StopIf, ReactsToWhatIsPublishedWhileItRuns) {
  MetricChannel metrics;
  Script run{cr::stop_if_higher(metrics, "accuracy", 0.9, {.run_every_steps = 2})};
  run.step();
  metrics.publish("accuracy", 1, 0.95);
  run.step();
  EXPECT_TRUE(run.should_stop()) << "in step 2";
}

TEST(StopIf, ReactsInTheRunOfTheEvaluation) {
  for (const auto every : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{1}}) {
    const MetricChannel metrics;
    cr::EvaluateOptions<cr::Name<"accuracy">> options{
        .every_steps = 3, .at_end = false, .then = metrics, .sink = [](auto) {}};
    Script run{cr::HookChain{cr::Evaluate{cr::fetches<"accuracy">, std::vector{cr::feeds(cr::feed<"x">(1.0))}, options},
                             cr::stop_if_higher(metrics, "accuracy", 0.7, {.run_every_steps = every})},
               cr::value<"accuracy">(0.75f), cr::placeholder<double, "x">};
    for (int i = 0; i < 2; ++i) run.step();
    EXPECT_FALSE(run.should_stop());
    run.step();
    EXPECT_TRUE(run.should_stop());
    EXPECT_EQ(run.stop_reason(), "accuracy = 0.75 at step 3 is above 0.7");
  }
}

/// A user's publisher.
struct Publisher : cr::PublishesMetrics {
  void after_run(auto& run, const auto&) const { metrics.publish("loss", run.step(), 1); }
  MetricChannel metrics{};
};
template <class Early, class Late>
constexpr bool in_order = std::is_same_v<decltype(cr::detail::order_reason<Early, Late>()), cr::detail::Ok>;

TEST(StopIf, StandsBehindEveryEvaluator) {
  const MetricChannel metrics;
  const auto batches = std::vector{cr::feeds(cr::feed<"x">(1.0))};
  const auto judge = [&]<class Reader>(const Reader&) {
    const auto behind = [&]<class Evaluator>(const Evaluator&) {
      return in_order<Evaluator, Reader> && !in_order<Reader, Evaluator> && !in_order<Reader, cr::EveryN<2, Evaluator>>;
    };
    return behind(cr::Evaluate{cr::fetches<"accuracy">, batches}) &&
           behind(cr::InMemoryEvaluator{cr::fetches<"accuracy">, batches}) && behind(Publisher{});
  };
  EXPECT_TRUE(judge(cr::stop_if_no_increase(metrics, "accuracy", 5)));
  EXPECT_TRUE(judge(cr::stop_if_lower(metrics, "accuracy", 5)));
  EXPECT_TRUE(judge(cr::ReduceOnMetricPlateau<>{.metrics = metrics, .rule = {.aim = cr::Aim::lowest}}));
}

TEST(Aim, IsStatedInTheReasonOfAStop) {
  for (const auto& [aim, comparative] : {std::pair{cr::Aim::lowest, "lower"}, {cr::Aim::highest, "higher"}}) {
    Script run{cr::EarlyStopping<"loss">{.aim = aim, .patience = 1}};
    run.step(cr::value<"loss">(1.0));
    run.step(cr::value<"loss">(1.0));
    EXPECT_EQ(run.stop_reason(), std::string("loss is not ") + comparative + " than 1.0, of step 1, since 1 looks");
  }
  static_assert(cr::Aim::lowest.better(1, 2) && !cr::Aim::lowest.better(2, 1) && !cr::Aim::lowest.better(1.5, 2, 0.5));
  static_assert(cr::Aim::highest.better(2, 1) && !cr::Aim::highest.better(nan_value, 1) &&
                !cr::Aim::highest.better(1, 1));
}

TEST(StopIf, AMissingMetricIsVisible) {
  Script run{cr::stop_if_lower(history(), "los", 0.5)};
  EXPECT_NE(refusal([&] { run.step(); }).find("no metric \"los\""), std::string::npos);

  RecordingSink sink;
  Script silent{cr::stop_if_lower(MetricChannel{}, "loss", 0.5, {.sink = sink})};
  silent.step();
  silent.end();
  EXPECT_EQ(sink.lines(),
            Lines{"crochet: early stopping has never seen loss; does an evaluator publish to its MetricChannel?"});
}

using Rule = cr::PlateauRate;

TEST(PlateauRate, FallsAfterPatienceLooks) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.5, .patience = 2};
  rate.start("a test");
  std::vector<double> rates;
  for (const double loss : {1.0, 0.9, 0.9, 0.95, 0.9, 0.9, 0.8}) {
    rate.reduced(loss, 0);
    rates.push_back(rate.now);
  }
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25}));
}

TEST(PlateauRate, CooldownLooksDoNotCountAndThereIsALowerBound) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.1, .patience = 1, .cooldown = 2, .min_rate = 0.05};
  rate.start("a test");
  std::string reductions;
  for (int look = 0; look < 9; ++look) reductions += rate.reduced(1.0, look) ? '!' : '.';
  EXPECT_EQ(reductions, ".!..!....") << "the third time it is at its bound";
  EXPECT_EQ(rate.now, 0.05);
}

TEST(PlateauRate, RefusesWhatIsOutOfRange) {
  constexpr auto aim = cr::Aim::lowest;
  for (Rule rule : {Rule{.aim = aim, .rate = 0}, Rule{.aim = aim, .factor = 1}, Rule{.aim = aim, .factor = 0},
                    Rule{.aim = aim, .patience = 0}, Rule{.aim = aim, .min_delta = -1},
                    Rule{.aim = aim, .cooldown = -1}, Rule{.aim = aim, .min_rate = -1}}) {
    EXPECT_NE(refusal([&] { rule.start("ReduceOnPlateau"); }), "");
  }
}

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

TEST(ReduceOnPlateau, AStepBackBeginsTheIntervalAnew) {
  struct Session {
    std::int64_t at;
    [[nodiscard]] std::int64_t step() const { return at; }
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
  EXPECT_EQ(run.fetched(), "");
  EXPECT_NE(refusal([] { cr::ReduceOnMetricPlateau<>{.rule = {.aim = cr::Aim::lowest}}.begin(); }), "");
}

}  // namespace metrics_test

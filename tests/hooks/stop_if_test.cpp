// SPDX-License-Identifier: Apache-2.0
// stop_if_higher, stop_if_lower, stop_if_no_increase and stop_if_no_decrease: stops by an evaluator's metrics.
#include <crochet/crochet.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/kit/stop_signal.hpp>
#include <crochet/hooks/reduce_on_plateau.hpp>
#include <crochet/hooks/stop_if.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../refusal.hpp"

namespace stop_if_test {

namespace cr = crochet;
using cr::MetricChannel;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

using crochet::test::refusal;

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
  MetricChannel late;
  late.publish("loss", 0, nan_value);
  late.publish("loss", 10, 1);
  late.publish("loss", 25, 0.5);
  EXPECT_FALSE(stops(cr::stop_if_no_decrease(late, "loss", 20))) << "25 is 15 behind the first number";
}

TEST(StopIf, ReactsToWhatIsPublishedWhileItRuns) {
  MetricChannel metrics;
  Script run{cr::stop_if_higher(metrics, "accuracy", 0.9, {.run_every_steps = 2})};
  run.step();
  metrics.publish("accuracy", 1, 0.95);
  run.step();
  EXPECT_TRUE(run.should_stop()) << "in step 2";
}

TEST(StopIf, WithAnIntervalReadsTheMetricsAtTheMultiplesOnly) {
  MetricChannel metrics;
  Script run{cr::stop_if_higher(metrics, "accuracy", 0.9, {.run_every_steps = 2})};
  for (int i = 0; i < 2; ++i) run.step();
  metrics.publish("accuracy", 2, 0.95);
  run.step();
  EXPECT_FALSE(run.should_stop());
  run.step();
  EXPECT_TRUE(run.should_stop()) << "in step 4";
}

TEST(StopIf, WithoutAnIntervalReadsTheMetricsWhenTheyArePublished) {
  MetricChannel metrics;
  metrics.publish("loss", 0, 0.75);
  Script run{cr::stop_if_exhausted(metrics, "loss", {.aim = cr::Aim::lowest, .patience = 2})};
  for (int i = 0; i < 5; ++i) run.step();
  EXPECT_FALSE(run.should_stop()) << "one evaluation, however many runs";
  metrics.publish("loss", 5, 0.75);
  run.step();
  EXPECT_FALSE(run.should_stop());
  metrics.publish("loss", 6, 0.75);
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "loss is not lower than 0.75, of step 0, for 2 evaluations");
}

/// At a step, for after_create_session.
struct AtStep {
  [[nodiscard]] std::int64_t step() const { return at; }
  [[nodiscard]] static std::int64_t creation() { return 1; }
  std::int64_t at;
};
TEST(StopIf, AStoppedTrainingMakesNoFurtherStepWhenItIsResumed) {
  MetricChannel metrics;
  metrics.publish("loss", 1, 0.25);
  Script run{cr::stop_if_lower(metrics, "loss", 0.5)};
  run.step();
  EXPECT_TRUE(run.should_stop());
  cr::testing::StateBox box;
  run.hook().save_state(box);
  const auto resumed_stops = [&](std::int64_t step) {
    const cr::StopSignal signal;
    auto resumed = cr::stop_if_lower(MetricChannel{}, "loss", 0.5, {.signal = signal});
    resumed.begin();
    resumed.load_state(box);
    cr::Coordinator coordinator;
    const AtStep session{step};
    resumed.after_create_session(session, coordinator);
    EXPECT_EQ(signal.requested(), coordinator.should_stop()) << "other sessions end as well";
    return coordinator.should_stop();
  };
  EXPECT_TRUE(resumed_stops(1));
  EXPECT_FALSE(resumed_stops(0)) << "from an older checkpoint";
}

TEST(StopIf, AnotherSessionFollowsByTheSignal) {
  const cr::StopSignal signal;
  Script chief{cr::stop_if_lower(history(), "loss", 0.5, {.signal = signal})};
  Script worker{cr::CheckForStopping{.signal = signal}};
  worker.step();
  EXPECT_FALSE(worker.should_stop());
  chief.step();
  worker.step();
  EXPECT_TRUE(worker.should_stop());
  EXPECT_EQ(worker.stop_reason(), "loss = 0.4 at step 3000 is below 0.5");
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

TEST(StopIf, ThresholdsAreNumbersAndPatienceIsOneAtLeast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(cr::stop_if_higher(MetricChannel{}, "loss", nan)), cr::LogicError);
  EXPECT_THROW(static_cast<void>(cr::stop_if_lower(MetricChannel{}, "loss", nan)), cr::LogicError);
  EXPECT_THROW(static_cast<void>(cr::stop_if_no_increase(MetricChannel{}, "loss", 0)), cr::LogicError);
  EXPECT_THROW(static_cast<void>(cr::stop_if_no_decrease(MetricChannel{}, "loss", -1)), cr::LogicError);
  EXPECT_THROW(
      static_cast<void>(cr::stop_if_exhausted(MetricChannel{}, "loss", {.aim = cr::Aim::lowest, .patience = 0})),
      cr::LogicError);
  EXPECT_NO_THROW(
      static_cast<void>(cr::stop_if_exhausted(MetricChannel{}, "loss", {.aim = cr::Aim::lowest, .patience = 1})));
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

}  // namespace stop_if_test

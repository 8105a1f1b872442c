// SPDX-License-Identifier: Apache-2.0
// The laws of hooks, for the hooks that wait, act on metrics or keep the best checkpoint.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>
#include <crochet/testing/counting_new.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "growing_model.hpp"
#include "hook_laws.hpp"
#include "memory_saver.hpp"

namespace {

namespace cr = crochet;
using cr::test::MemorySaver;
using cr::testing::broken_laws;
using cr::testing::LawOptions;
using cr::testing::RecordingSink;
using cr::testing::series;
using Model = cr::test::GrowingModel;

const auto falling = series<"loss">(5.0f, 4.0f, 3.0f, 2.0f);

class TimedAndMetricLaws : public cr::test::HookLaws {};

/// A tracer that logs its calls.
struct TracerThatSays {
  void start() const { sink("start"); }
  void stop(std::int64_t step) const { sink("stop " + std::to_string(step)); }
  void abandon() const { sink("abandon"); }
  RecordingSink sink;
};

TEST_F(TimedAndMetricLaws, ThatWatchTheTimeOrWait) {
  LawOptions of_time = all;
  of_time.except = {"state"};  // the time between two sessions is not counted
  EXPECT_EQ(broken_laws(cr::TerminateOnTime{.seconds = 7, .clock = clock}, of_time), "");
  EXPECT_EQ(broken_laws(cr::TerminateOnTime{.seconds = 7, .across_restarts = true, .clock = clock}, of_time), "");
  const auto naps = [sink = sink](double seconds) { sink("nap of " + std::to_string(seconds)); };
  const auto seven = [] { return 7; };
  EXPECT_EQ(broken_laws(
                cr::GlobalStepWaiter{.wait_until_step = 5, .step_elsewhere = seven, .sink = sink, .sleep = naps}, all),
            "");
  EXPECT_EQ(broken_laws(cr::StopAtCheckpointStep{.checkpoint_step = seven, .last_step = 5, .sleep = naps}, all), "");
  EXPECT_EQ(broken_laws(cr::StopAtCheckpointStep{.checkpoint_step = seven, .last_step = 8, .sleep = naps}, all), "");
  EXPECT_EQ(broken_laws(cr::MultiStepStopAtStep<>{.last_step = 7}, all, cr::placeholder<std::int64_t, "steps_per_run">),
            "");
  EXPECT_EQ(broken_laws(cr::Profiler{TracerThatSays{sink}, {.every_steps = 3}}, all), "");
}

TEST_F(TimedAndMetricLaws, ThatActOnMetrics) {
  cr::MetricChannel metrics;
  metrics.publish("accuracy", 3, 0.5);
  EXPECT_EQ(broken_laws(cr::stop_if_higher(metrics, "accuracy", 0.6, {.run_every_steps = 2, .sink = sink}), all), "");
  EXPECT_EQ(
      broken_laws(cr::stop_if_no_increase(metrics, "accuracy", 100, {.run_every_seconds = 3, .clock = clock}), all),
      "");
  EXPECT_EQ(broken_laws(cr::CheckForStopping{}, all), "");
  EXPECT_EQ(
      broken_laws(
          cr::ReduceOnPlateau<"loss">{.rule = {.aim = cr::Aim::lowest, .patience = 2}, .every_steps = 2, .sink = sink},
          all, falling, cr::placeholder<double, "learning_rate">),
      "");
  EXPECT_EQ(broken_laws(
                cr::ReduceOnMetricPlateau<>{
                    .metrics = metrics, .metric = "accuracy", .rule = {.aim = cr::Aim::highest}, .sink = sink},
                all, cr::placeholder<float, "learning_rate">),
            "");
  const auto batches = std::vector(3, cr::feeds(cr::feed<"rate">(0.5)));
  EXPECT_EQ(broken_laws(
                cr::InMemoryEvaluator{
                    cr::fetches<"loss">, batches, cr::HookChain<>{}, {.every_steps = 4, .sink = sink, .clock = clock}},
                all, falling, cr::placeholder<double, "rate">),
            "");
}

TEST(Laws, OfTheHooksThatKeep) {
  cr::testing::LawOptions options;
  RecordingSink sink;
  options.says = [&] { return sink.text(); };
  const auto read = [] { return cr::HostMemory{}; };
  EXPECT_EQ(broken_laws(cr::MemoryMonitor{.every_steps = 3, .read = read, .sink = sink}, options), "");
  Model model;
  const cr::MetricChannel metrics;
  EXPECT_EQ(
      broken_laws(cr::BestCheckpoint{MemorySaver{model}, metrics, "accuracy", {.aim = cr::Aim::highest, .sink = sink}},
                  options),
      "");
}

}  // namespace

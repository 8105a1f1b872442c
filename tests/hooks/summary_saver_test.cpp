// SPDX-License-Identifier: Apache-2.0
// SummarySaver, WeightHistograms, and the summaries of StepCounter and LearningRateMonitor.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace summary_saver_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::RecordedSummaries;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;
using Loss = cr::summary::Scalar<"loss">;
using namespace cr::literals;

/// Runs n steps with the number of the run as loss. Returns the runs in which the loss was fetched.
template <class S>
std::string asked_in(S& run, int n, ManualClock clock = ManualClock{}, double seconds = 0) {
  std::string requested;
  for (int i = 1; i <= n; ++i) {
    run.step(cr::value<"loss">(static_cast<float>(i)));
    clock.advance(seconds);
    if (!run.fetched().empty()) requested += std::to_string(i) + " ";
  }
  return requested;
}

// ---- when

TEST(SummarySaver, EveryEightSteps) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 8, .summaries = saved}};
  EXPECT_EQ(asked_in(run, 30), "8 16 24 ") << "nothing is fetched in the others";
  EXPECT_EQ(saved.lines(), (Lines{"8: loss = 8", "16: loss = 16", "24: loss = 24"}));
}

TEST(SummarySaver, OrInTheFirstRunAndEightStepsLater) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 8, .anchor = cr::Anchor::first_run, .summaries = saved}};
  EXPECT_EQ(asked_in(run, 30), "1 9 17 25 ");
}

TEST(SummarySaver, EveryHalfSecond) {
  RecordedSummaries saved;
  ManualClock clock;
  Script run{cr::SummarySaver<Loss>{.every_seconds = 0.5, .summaries = saved, .clock = clock}};
  EXPECT_EQ(asked_in(run, 4, clock, 0.5), "1 2 3 4 ");
}

TEST(SummarySaver, EveryNineSecondsOfThreeEach) {
  RecordedSummaries saved;
  ManualClock clock;
  Script run{cr::SummarySaver<Loss>{.every_seconds = 9, .summaries = saved, .clock = clock}};
  EXPECT_EQ(asked_in(run, 8, clock, 3.1), "1 4 7 ");
}

TEST(SummarySaver, AResumedSessionSavesAtMultiplesOfTheGlobalStep) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 10, .summaries = saved}};
  run.set_step(104);
  EXPECT_EQ(asked_in(run, 16), "6 16 ");
  EXPECT_EQ(saved.lines(), (Lines{"110: loss = 6", "120: loss = 16"}));
}

TEST(SummarySaver, AfterAStepBackTheMultiplesComeAgain) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 10, .summaries = saved}};
  asked_in(run, 22);
  run.set_step(13);
  EXPECT_EQ(asked_in(run, 8), "7 ");
  EXPECT_EQ(saved.lines().back(), "20: loss = 7");
}

TEST(SummarySaver, WithoutASinkFetchesNothing) {
  Script run{cr::SummarySaver<Loss>{.every_steps = 1}};
  EXPECT_EQ(asked_in(run, 5), "");
  run.end();
}

TEST(SummarySaver, TheEndIsSaidAndFlushed) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 1, .summaries = saved}};
  asked_in(run, 2);
  run.end();
  EXPECT_EQ(saved.lines(), (Lines{"1: loss = 1", "2: loss = 2", "stop 2", "flush"}));
}

/// Records the steps of START entries and of summaries.
struct Started {
  std::string* steps;
  void start(std::int64_t step) const { *steps += "(" + std::to_string(step) + ") "; }
  void add_summary(const cr::io::Summary&, std::int64_t step) const { *steps += std::to_string(step) + " "; }
};

TEST(SummarySaver, ASessionBeginsWithItsFirstRun) {  // a killed program can have written events of these steps
  std::string steps;
  Script run{cr::SummarySaver<Loss>{.every_steps = 10, .summaries = Started{&steps}}};
  run.set_step(104);
  asked_in(run, 6);
  EXPECT_EQ(steps, "(105) (110) 110 ");
}

/// Loses the first session in its run 7.
struct LosesASession {
  void after_run(auto& run, const auto& /*values*/) {
    if (run.step() == 7) throw cr::AbortedError("the machine is gone");
  }
};

TEST(SummarySaver, ARecoveredSessionBeginsWithItsFirstRun) {
  std::string steps;
  cr::StepExecutor step{[](auto& out) { out[cr::Name<"loss">{}] = 1.0; }, cr::output<double, "loss">};
  cr::MonitoredSession session{
      step, cr::HookChain{cr::SummarySaver<Loss>{.every_steps = 5, .summaries = Started{&steps}}, LosesASession{}},
      cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  while (session.step() < 10) session.run();
  session.close();
  EXPECT_EQ(steps, "(1) (5) 5 (8) (10) 10 ");
}

TEST(SummarySaver, AnErrorFlushes) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss>{.every_steps = 1, .summaries = saved}};
  asked_in(run, 1);
  run.fail(std::runtime_error("x"));
  EXPECT_EQ(saved.lines(), (Lines{"1: loss = 1", "flush"}));
}

TEST(SummarySaver, WantsExactlyOneInterval) {
  cr::SummarySaver<Loss> neither{}, both{.every_steps = 1, .every_seconds = 1}, zero{.every_steps = 0};
  EXPECT_THROW(neither.begin(), cr::LogicError);
  EXPECT_THROW(both.begin(), cr::LogicError);
  EXPECT_THROW(zero.begin(), cr::LogicError);
  EXPECT_EQ(cr::SummarySaver<Loss>{.every_steps = 100}.cadence(), "every 100 steps");
}

TEST(SummarySaver, KeepsTheLaws) {
  RecordedSummaries saved;
  EXPECT_EQ(
      cr::testing::broken_laws(cr::SummarySaver<Loss>{.every_steps = 2, .summaries = saved}, cr::value<"loss">(1.0F)),
      "");
}

// ---- what

constexpr std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
constexpr cr::TensorView<float, 2> matrix{numbers.data(), {2, 3}};

TEST(SummarySaver, SavesAllItemsAsOneSummary) {
  RecordedSummaries saved;
  Script run{cr::SummarySaver<Loss, cr::summary::Scalar<"loss", "train loss">, cr::summary::Histogram<"w">,
                              cr::summary::Histogram<"loss", "spread">, cr::summary::Image<"w", 1, 2, 3>,
                              cr::summary::Image<"w", 2, 2, 1, "first">, cr::summary::Image<"w", 7, 1>>{
      .every_steps = 1, .summaries = saved}};
  run.step(cr::value<"loss">(0.5), cr::value<"w">(matrix));
  EXPECT_EQ(run.fetched(), "loss w");
  EXPECT_EQ(saved.lines(), Lines{"1: loss = 0.5, train_loss = 0.5, w = [6 values], spread = [1 values], "
                                 "w = [image 1x2x3], first = [image 2x2x1]"});
  const auto& values = saved.summaries()[0].values();
  EXPECT_EQ(std::get<std::vector<float>>(values[2].content), std::vector<float>(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::get<cr::io::ImagePixels>(values[5].content).pixels, (std::vector<std::uint8_t>{63, 127, 191, 255}));
}

TEST(SummarySaver, ASecondSaverHasItsOwnTime) {
  RecordedSummaries saved;
  Script run{
      cr::HookChain{cr::SummarySaver<Loss>{.every_steps = 8, .summaries = saved},
                    cr::SummarySaver<cr::summary::Scalar<"loss", "often">>{.every_steps = 4, .summaries = saved}}};
  asked_in(run, 9);
  EXPECT_EQ(saved.lines(), (Lines{"4: often = 4", "8: loss = 8", "8: often = 8"}));
}

/// A sink without optional members, and one that throws.
struct Plain {
  std::vector<std::int64_t>* steps;
  void add_summary(const cr::io::Summary&, std::int64_t step) const { steps->push_back(step); }
};
struct Full {
  void add_summary(const cr::io::Summary&, std::int64_t) const { throw cr::IoError("disk full"); }
};

TEST(SummarySink, NeedsOnlyAddSummary) {
  std::vector<std::int64_t> steps;
  Script run{cr::SummarySaver<Loss>{.every_steps = 1, .summaries = Plain{&steps}}};
  asked_in(run, 3);
  run.end();
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(SummarySink, WhatItThrowsLeavesTheRun) {
  Script run{cr::SummarySaver<Loss>{.every_steps = 1, .summaries = Full{}}};
  EXPECT_THROW(run.step(cr::value<"loss">(1.0F)), cr::IoError);
}

// ---- weights

TEST(WeightHistograms, ShowsWeightsAndNothingElse) {
  RecordedSummaries saved;
  std::vector<float> w(6), b(2), slot(6);
  double rate = 0.1;
  std::int64_t count = 0;
  std::vector<double> moving(3);
  cr::StepExecutor step{[&](auto&) { w[0] += 1; },         cr::variable<"w">(w),       cr::variable<"layer/b">(b),
                        cr::variable<"w/Adam">(slot),      cr::variable<"rate">(rate), cr::variable<"count">(count),
                        cr::variable<"layer/mean">(moving)};
  cr::run(step,
          cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::WeightHistograms{.every_steps = 2, .summaries = saved}});
  EXPECT_EQ(saved.lines(), (Lines{"2: w = [6 values], layer/b = [2 values], layer/mean = [3 values]",
                                  "4: w = [6 values], layer/b = [2 values], layer/mean = [3 values]"}));
  EXPECT_EQ(std::get<std::vector<float>>(saved.summaries()[1].values()[0].content)[0], 4) << "after the run";
}

TEST(WeightHistograms, OrThoseThatAreAccepted) {
  RecordedSummaries saved;
  std::vector<float> w(6), slot(6);
  cr::StepExecutor step{[&](auto&) {}, cr::variable<"w">(w), cr::variable<"w/Adam">(slot)};
  const auto slots = [](std::string_view name) { return name.ends_with("/Adam"); };
  cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 2},
                              cr::WeightHistograms{.every_steps = 2, .accept = slots, .summaries = saved}});
  EXPECT_EQ(saved.lines(), Lines{"2: w/Adam = [6 values]"});
}

// ---- rates

TEST(StepCounter, SavesItsRate) {
  RecordedSummaries saved;
  ManualClock clock;
  RecordingSink said;
  Script run{cr::StepCounter{.every_steps = 10, .sink = said, .clock = clock, .summaries = saved}};
  for (int i = 1; i <= 21; ++i) {
    clock.advance(0.25);
    run.step();
  }
  EXPECT_EQ(saved.lines(), (Lines{"10: global_step/sec = 4", "20: global_step/sec = 4"}));
  EXPECT_EQ(run.fetched(), "");
}

TEST(StepCounter, TheTagFollowsTheNameOfTheStep) {
  RecordedSummaries saved;
  ManualClock clock;
  RecordingSink said;
  Script run{
      cr::StepCounter{.every_steps = 2, .sink = said, .clock = clock, .summaries = saved, .step_name = "bar/foo"}};
  for (int i = 1; i <= 2; ++i) {
    clock.advance(1);
    run.step();
  }
  EXPECT_EQ(saved.lines(), Lines{"2: bar/foo/sec = 1"});
  EXPECT_EQ(said.lines(), Lines{"step 2: bar/foo/sec = 1"});
}

TEST(LearningRateMonitor, SavesEachLook) {
  RecordedSummaries saved;
  RecordingSink said;
  Script run{cr::LearningRateMonitor<>{.every_steps = 2, .sink = said, .summaries = saved}};
  for (int i = 1; i <= 5; ++i) run.step(cr::value<"learning_rate">(i < 4 ? 0.5 : 0.25));
  EXPECT_EQ(saved.lines(), (Lines{"2: learning_rate = 0.5", "4: learning_rate = 0.25"}));
  EXPECT_EQ(said.lines().size(), 2U);
}

}  // namespace summary_saver_test

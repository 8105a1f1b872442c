// SPDX-License-Identifier: Apache-2.0
// The hooks that print values: LoggingTensor and LearningRateMonitor, and the format of the values.
#include <crochet/hooks/learning_rate_monitor.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace logging_tensor_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::value;
using cr::detail::value_text;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

TEST(LoggingTensor, WritesTheOriginalsLineBehindTheStep) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::LoggingTensor<"loss", "acc">{.every_steps = 1, .sink = sink, .clock = clock}};
  run.step(value<"loss">(0.5f), value<"acc">(0.9));
  clock.advance(0.1234);
  run.step(value<"loss">(0.25f), value<"acc">(1.0));
  EXPECT_EQ(sink.lines(), (Lines{"step 1: loss = 0.5, acc = 0.9", "step 2: loss = 0.25, acc = 1.0 (0.123 sec)"}));
}

/// The steps in which the hook logs, in a session that begins at `from`.
std::string logged_in(cr::Anchor anchor, std::int64_t from) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 10, .anchor = anchor, .sink = sink}};
  run.set_step(from);
  std::string logged;
  for (int i = 1; i <= 31; ++i) {
    sink.clear();
    run.step(value<"loss">(1.0f));
    if (!sink.lines().empty()) logged += std::to_string(run.global_step()) + " ";
  }
  sink.clear();
  run.end();
  EXPECT_TRUE(sink.lines().empty()) << "nothing at the end";
  return logged;
}
TEST(LoggingTensor, LogsAtMultiplesOfTheGlobalStep) {
  EXPECT_EQ(logged_in(cr::Anchor::global_step, 0), "10 20 30 ");
  EXPECT_EQ(logged_in(cr::Anchor::global_step, 104), "110 120 130 ");
}
TEST(LoggingTensor, OrInTheFirstRunAndEveryTenthAfterIt) {
  EXPECT_EQ(logged_in(cr::Anchor::first_run, 0), "1 11 21 31 ");
  EXPECT_EQ(logged_in(cr::Anchor::first_run, 104), "105 115 125 135 ");
}

TEST(LoggingTensor, FetchesNothingWhenItIsNotDue) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 3, .sink = sink}};
  std::string fetched;
  for (int i = 0; i < 7; ++i) {
    run.step(value<"loss">(1.0f));
    fetched += run.fetched() + "|";
  }
  EXPECT_EQ(fetched, "||loss|||loss||");
  EXPECT_EQ(run.log().reads["loss"], 2);
}

TEST(LoggingTensor, EverySecond) {
  RecordingSink sink;
  ManualClock clock{50};
  Script run{cr::LoggingTensor<"loss">{.every_seconds = 1, .sink = sink, .clock = clock}};
  run.step(value<"loss">(1.0f));
  run.step(value<"loss">(2.0f));
  EXPECT_EQ(run.fetched(), "");
  clock.advance(1);
  run.step(value<"loss">(3.0f));
  EXPECT_EQ(sink.lines(), (Lines{"step 1: loss = 1.0", "step 3: loss = 3.0 (1.000 sec)"}));
}

TEST(LoggingTensor, OnlyAtTheEnd) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.at_end = true, .sink = sink}};
  for (const float loss : {3.0f, 2.0f, 1.0f}) run.step(value<"loss">(loss));
  EXPECT_TRUE(sink.lines().empty());
  run.end();
  EXPECT_EQ(sink.lines(), Lines{"step 3: loss = 1.0"});
  EXPECT_EQ(run.log().runs.size(), 3U) << "the end makes no further run";
}

TEST(LoggingTensor, NowAndThenAndAtTheEnd) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 2, .at_end = true, .sink = sink, .clock = clock}};
  for (const float loss : {4.0f, 3.0f, 1.0f}) {
    run.step(value<"loss">(loss));
    clock.advance(1);
  }
  run.end();
  EXPECT_EQ(sink.lines(), (Lines{"step 2: loss = 3.0 (1.000 sec)", "step 3: loss = 1.0 (2.000 sec)"}));
}

TEST(LoggingTensor, ALineAtTheEndForAStepThatWasLostAndMadeAgain) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::LoggingTensor<"loss">{.every_seconds = 10, .at_end = true, .sink = sink, .clock = clock}};
  run.step(value<"loss">(4.0f));
  run.step(value<"loss">(3.0f));
  clock.advance(10);
  run.step(value<"loss">(2.0f));
  run.set_step(1);
  for (const float loss : {3.5f, 2.5f}) run.step(value<"loss">(loss));
  run.end();
  EXPECT_EQ(sink.lines(),
            (Lines{"step 1: loss = 4.0", "step 3: loss = 2.0 (10.000 sec)", "step 3: loss = 2.5 (0.000 sec)"}));
}

TEST(LoggingTensor, NoSecondLineAtTheEndForAStepThatHasOne) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 2, .at_end = true, .sink = sink}, value<"loss">(1.0f)};
  run.step();
  run.step();
  run.end();
  EXPECT_EQ(sink.lines().size(), 1U);
}

TEST(LoggingTensor, SaysThatTheStepDoesNotAdvance) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 3, .sink = sink}, value<"loss">(1.0f)};
  for (int i = 0; i < 5; ++i) {
    run.set_step(7);  // an evaluation does not advance the step
    run.step();
  }
  EXPECT_TRUE(sink.lines().empty());
  run.end();
  EXPECT_EQ(sink.lines(),
            Lines{"crochet: LoggingTensor<\"loss\"> has logged nothing in 5 runs: the global step has not "
                  "reached a multiple of 3; .anchor = Anchor::first_run counts runs instead"});
}

TEST(LoggingTensor, CountsRunsThatDoNotAdvanceTheStepFromTheFirstOneOn) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 3, .anchor = cr::Anchor::first_run, .sink = sink},
             value<"loss">(1.0f)};
  for (int i = 0; i < 5; ++i) {
    run.set_step(7);
    run.step();
  }
  EXPECT_EQ(sink.lines().size(), 2U) << "runs 1 and 4";
}

TEST(LoggingTensor, LogsTheLastRunAtTheEndAlsoIfTheStepDoesNotAdvance) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{
      .every_steps = 3, .anchor = cr::Anchor::first_run, .at_end = true, .sink = sink, .clock = [] { return 0.0; }}};
  for (const float loss : {1.0f, 2.0f}) {
    run.set_step(7);  // an evaluation does not advance the step
    run.step(value<"loss">(loss));
  }
  run.end();
  EXPECT_EQ(sink.lines(), (Lines{"step 8: loss = 1.0", "step 8: loss = 2.0 (0.000 sec)"}));
}

TEST(LoggingTensor, NothingToLogWithoutARun) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.at_end = true, .sink = sink}, value<"loss">(1.0f)};
  run.end();
  EXPECT_TRUE(sink.lines().empty());
}

TEST(LoggingTensor, AFormatterMakesTheWholeLine) {
  RecordingSink sink;
  ManualClock clock;
  const auto format = [](const cr::LoggedValues& logged) {
    return "step " + std::to_string(logged.step) + " loss x 2 " + std::to_string(2 * logged["loss"].number) +
           (logged.seconds ? " again " : " first ") + logged["image"].text;
  };
  Script run{cr::LoggingTensor<"loss", "image">{.every_steps = 1, .formatter = format, .sink = sink, .clock = clock}};
  const std::vector<float> image{1, 2};
  run.step(value<"loss">(0.5f), value<"image">(std::span<const float>(image)));
  run.step(value<"loss">(1.5f), value<"image">(std::span<const float>(image)));
  EXPECT_EQ(sink.lines(),
            (Lines{"step 1 loss x 2 1.000000 first [1.0, 2.0]", "step 2 loss x 2 3.000000 again [1.0, 2.0]"}));
}

TEST(LoggingTensor, AFormatterIsToldOfANameThatIsNotThere) {
  const auto format = [](const cr::LoggedValues& logged) { return logged["lose"].text; };
  Script run{cr::LoggingTensor<"loss">{.every_steps = 1, .formatter = format}};
  EXPECT_THROW(run.step(value<"loss">(1.0f)), cr::LogicError);
}

TEST(LoggingTensor, ARunThatFailsDoesNotUseUpItsTurn) {
  RecordingSink sink;
  Script run{cr::LoggingTensor<"loss">{.every_steps = 10, .anchor = cr::Anchor::first_run, .sink = sink}};
  run.log().throw_in_run(0, cr::UnavailableError("gone"));
  EXPECT_THROW(run.step(value<"loss">(1.0f)), cr::UnavailableError);
  run.step(value<"loss">(2.0f));
  EXPECT_EQ(sink.lines(), Lines{"step 1: loss = 2.0"});
}

TEST(LoggingTensor, BeginsAnewInASecondSession) {
  RecordingSink sink;
  cr::LoggingTensor<"loss"> hook{.every_steps = 2, .sink = sink, .clock = [] { return 0.0; }};
  for (int session = 0; session < 2; ++session) {
    Script run{hook};
    run.step(value<"loss">(1.0f));
    run.step(value<"loss">(2.0f));
    hook = run.hook();
  }
  EXPECT_EQ(sink.lines(), (Lines(2, "step 2: loss = 2.0 (0.000 sec)")));
}

template <class Hook>
std::string refusal(Hook hook) {
  try {
    hook.begin();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(LoggingTensor, TheOriginalsArgumentRule) {
  using Hook = cr::LoggingTensor<"loss">;
  EXPECT_EQ(refusal(Hook{}),
            "crochet: LoggingTensor<\"loss\">: set exactly one of every_steps, every_seconds and every_epochs");
  EXPECT_NE(refusal(Hook{.every_steps = 0}).find("invalid every_steps = 0"), std::string::npos);
  EXPECT_NE(refusal(Hook{.every_steps = -10}).find("invalid every_steps = -10"), std::string::npos);
  EXPECT_NE(refusal(Hook{.every_steps = 5, .every_seconds = 5, .at_end = true}).find("exactly one of"),
            std::string::npos);
  EXPECT_EQ(refusal(Hook{.at_end = true}), "");
}

TEST(LoggingTensor, SaysItsCadence) {
  EXPECT_EQ(cr::LoggingTensor<"loss">{.every_steps = 100}.cadence(), "every 100 steps");
  EXPECT_EQ((cr::LoggingTensor<"loss">{.every_steps = 100, .at_end = true}.cadence()),
            "every 100 steps and at the end");
  EXPECT_EQ(cr::LoggingTensor<"loss">{.at_end = true}.cadence(), "at the end");
}

TEST(LearningRateMonitor, WritesChanges) {
  RecordingSink sink;
  std::vector<std::pair<std::int64_t, double>> changes;
  Script run{cr::LearningRateMonitor<"rate">{
      .every_steps = 2,
      .on_change = [&](std::int64_t step, double rate) { changes.emplace_back(step, rate); },
      .sink = sink}};
  std::string fetched;
  for (const double rate : {0.1, 0.05, 0.1, 0.1, 0.05, 0.05, 0.1, 0.05}) {
    run.step(value<"rate">(rate));
    fetched += run.fetched() + "|";
  }
  EXPECT_EQ(sink.lines(), (Lines{"step 2: rate = 0.05", "step 4: rate = 0.1", "step 6: rate = 0.05"}));
  EXPECT_EQ(changes, (std::vector<std::pair<std::int64_t, double>>{{2, 0.05}, {4, 0.1}, {6, 0.05}}));
  EXPECT_EQ(fetched, "|rate||rate||rate||rate|") << "between looks nothing is fetched";
}

TEST(LearningRateMonitor, WritesNaNOnce) {
  RecordingSink sink;
  Script run{cr::LearningRateMonitor<"rate">{.every_steps = 1, .sink = sink}};
  for (const double rate : {std::nan(""), std::nan(""), 0.5, std::nan("")}) run.step(value<"rate">(rate));
  EXPECT_EQ(sink.lines(), (Lines{"step 1: rate = nan", "step 3: rate = 0.5", "step 4: rate = nan"}));
}

TEST(LearningRateMonitor, LooksEveryHundredStepsByDefault) {
  RecordingSink sink;
  Script run{cr::LearningRateMonitor<>{.sink = sink}};
  for (int i = 0; i < 201; ++i) run.step(value<"learning_rate">(1.0f / static_cast<float>(i + 1)));
  EXPECT_EQ(run.log().reads["learning_rate"], 2);
}

TEST(ValueText, ScalarsAsShortAsTheyCanBe) {
  EXPECT_EQ(value_text(0.5f), "0.5");
  EXPECT_EQ(value_text(0.1f), "0.1");
  EXPECT_EQ(value_text(1.0), "1.0");
  EXPECT_EQ(value_text(0.0), "0.0");
  EXPECT_EQ(value_text(-2.5), "-2.5");
  EXPECT_EQ(value_text(100000.0f), "100000.0");
  EXPECT_EQ(value_text(1e-8), "1e-08");
  EXPECT_EQ(value_text(1e-4), "0.0001");
  EXPECT_EQ(value_text(-1e-4), "-0.0001");
  EXPECT_EQ(value_text(1e15), "1000000000000000.0");
  EXPECT_EQ(value_text(1e16), "1e+16");
  EXPECT_EQ(value_text(1e20), "1e+20");
  EXPECT_EQ(value_text(std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(value_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(value_text(std::int64_t{9007199254740993}), "9007199254740993");
  EXPECT_EQ(value_text(std::uint8_t{65}), "65");
  EXPECT_EQ(value_text(true), "true");
}

TEST(ValueText, TensorsByTheirFirstElementsAndShape) {
  const std::vector<double> values(1000, 0.5);
  EXPECT_EQ(value_text(std::span(values).first(2)), "[0.5, 0.5]");
  EXPECT_EQ(value_text(std::span(values)), "[0.5, 0.5, 0.5, ... 1000]");
  EXPECT_EQ(value_text(cr::TensorView<double, 2>{values.data(), {2, 3}}), "[0.5, 0.5, 0.5, 0.5, 0.5, 0.5] (2x3)");
  EXPECT_EQ(value_text(cr::TensorView<double, 1>{}), "[]");
}

}  // namespace logging_tensor_test

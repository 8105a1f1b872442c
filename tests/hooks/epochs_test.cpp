// SPDX-License-Identifier: Apache-2.0
// Epochs: `.every_epochs` of the hooks, StopAtEpoch, run.epoch(), and the epoch in lines and rows.
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace epochs_test {

namespace cr = crochet;
using cr::value;
using cr::testing::RecordingSink;
using cr::testing::Script;
using cr::testing::StateBox;
using Lines = std::vector<std::string>;

/// Data of three batches an epoch.
struct Data {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  Position at;

  void take() {
    if (++at.batch == batches_per_epoch()) at = {at.epoch + 1, 0};
  }
  [[nodiscard]] Position position() const { return at; }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return 3; }
  void seek(Position to) { at = to; }
};
static_assert(cr::CountsEpochs<Data>);
static_assert(!cr::CountsEpochs<int>);

/// Hooks with the data in front of them.
template <class... H>
auto over(Data& data, H... hook) {
  return Script{cr::HookChain{cr::CheckpointInputPipeline{data}, std::move(hook)...}, value<"loss">(0.5f)};
}
void run(auto& script, Data& data, int runs) {
  for (int i = 0; i < runs && !script.should_stop(); ++i) {
    data.take();
    script.step();
  }
}

TEST(Epochs, AMeanIsThatOfTheRunsWithRows) {
  Data data;
  const cr::MetricChannel metrics;
  auto script = over(data, cr::EpochMeans<"loss">{metrics});
  const float rows[3] = {};
  const auto step = [&](float loss, std::int64_t n) {
    data.take();
    script.step(value<"loss">(loss), cr::feed<"x">(cr::TensorView<float, 1>{rows, {n}}));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  step(1, 1), step(nan, 0), step(3, 3);
  for (int i = 0; i < 3; ++i) step(nan, 0);
  step(4, 2), step(nan, 0), step(nan, 0);
  ASSERT_EQ(metrics.history("training/loss").size(), 2U) << "none of the epoch without rows";
  EXPECT_EQ(metrics.history("training/loss")[0].value, 2.5);
  EXPECT_EQ(metrics.history("training/loss")[1].step, 9);
  EXPECT_EQ(metrics.history("training/loss")[1].value, 4);
}

/// Creates sessions that begin at step 0.
struct BeginsAtStep0 {
  void create_session(auto& session, auto& /*coordinator*/) const { session.set_step(0); }
};

TEST(Epochs, AMeanAfterARecoveryToAnEarlierStepHasNoRunsOfTheLostSession) {
  using namespace cr::literals;
  const cr::DiagnosticSink before = cr::set_diagnostic_sink([](std::string_view) {});
  Data data;
  const cr::MetricChannel metrics;
  double loss = 0;
  cr::StepExecutor step{[&](auto& out) {
                          if ((loss += 1) == 3) throw cr::AbortedError("lost");
                          out["loss"_n] = loss;
                        },
                        cr::output<double, "loss">};
  cr::MonitoredSession session{step, cr::HookChain{cr::CheckpointInputPipeline{data}, cr::EpochMeans<"loss">{metrics}},
                               BeginsAtStep0{}, cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  for (int i = 0; i < 5; ++i) {
    session.run_step_fn([&](auto& run) {
      data.take();
      run.run_with_hooks();
    });
  }
  session.close();
  cr::set_diagnostic_sink(before);
  EXPECT_EQ(session.recoveries(), 1);
  ASSERT_EQ(metrics.history("training/loss").size(), 1U);
  EXPECT_EQ(metrics.history("training/loss")[0].step, 3);
  EXPECT_EQ(metrics.history("training/loss")[0].value, (4 + 5 + 6) / 3.0);
}

TEST(Epochs, ALineInTheRunWithTheLastBatchOfEach) {
  Data data;
  RecordingSink sink;
  auto script =
      over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink, .clock = cr::testing::ManualClock{}});
  run(script, data, 7);
  EXPECT_EQ(sink.lines(),
            (Lines{"epoch 1, step 3: loss = 0.5 (0.000 sec)", "epoch 2, step 6: loss = 0.5 (0.000 sec)"}));
}

TEST(Epochs, OnlyThoseOfAMultiple) {
  Data data;
  RecordingSink sink;
  auto script =
      over(data, cr::LoggingTensor<"loss">{.every_epochs = 2, .sink = sink, .clock = cr::testing::ManualClock{}});
  run(script, data, 20);
  ASSERT_EQ(sink.lines().size(), 3U);
  EXPECT_EQ(sink.lines()[2], "epoch 6, step 18: loss = 0.5 (0.000 sec)");
}

TEST(Epochs, ValuesAreFetchedInThatRunAlone) {
  Data data;
  RecordingSink sink;
  auto script = over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink});
  std::string fetched;
  for (int i = 0; i < 4; ++i) {
    run(script, data, 1);
    fetched += script.fetched() + "|";
  }
  EXPECT_EQ(fetched, "||loss||");
}

TEST(Epochs, ARunThatPassesSeveralIsDueOnce) {
  Data data;
  RecordingSink sink;
  auto script =
      over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink, .clock = cr::testing::ManualClock{}});
  for (int i = 0; i < 8; ++i) data.take();
  script.step();
  script.step();
  EXPECT_EQ(sink.lines(), (Lines{"epoch 2, step 1: loss = 0.5 (0.000 sec)"}));
}

TEST(Epochs, RunsWithoutABatchAreNotDueAgain) {
  Data data;
  RecordingSink sink;
  auto script = over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink});
  run(script, data, 3);
  for (int i = 0; i < 3; ++i) script.step();  // the place stays that after the last batch
  EXPECT_EQ(sink.lines().size(), 1U);
}

TEST(Epochs, ASessionThatBeginsInTheMiddle) {
  Data data{{4, 2}};
  RecordingSink sink;
  auto script =
      over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink, .clock = cr::testing::ManualClock{}});
  run(script, data, 4);
  EXPECT_EQ(sink.lines(),
            (Lines{"epoch 5, step 1: loss = 0.5 (0.000 sec)", "epoch 6, step 4: loss = 0.5 (0.000 sec)"}));
}

TEST(Epochs, ASessionThatBeginsWithAnEpochIsNotDueAtOnce) {
  Data data{{4, 0}};
  RecordingSink sink;
  auto script = over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink});
  run(script, data, 2);
  EXPECT_TRUE(sink.lines().empty());
}

/// A run, and the session before it, for a Cadence alone.
struct Place {
  Data data;
  std::int64_t steps = 0;
  [[nodiscard]] std::int64_t step() const { return steps; }
  [[nodiscard]] std::int64_t epoch() const { return data.at.epoch; }
};
constexpr auto no_clock = [] { return 0.0; };
/// The steps at which it is due, up to step 20.
std::string due_until_20(cr::Cadence& timer, Place& place) {
  std::string due;
  while (place.steps < 20) {
    place.data.take();
    ++place.steps;
    if (timer.due(place, no_clock)) due += std::to_string(place.steps) + " ", timer.triggered(place.steps, 0);
  }
  return due;
}
TEST(Epochs, AResumedSessionIsDueAtTheSameSteps) {
  for (int before = 0; before <= 13; ++before) {
    Place place;
    cr::Cadence interrupted = cr::Cadence::every_epochs(2);
    interrupted.session_begins(place, 0);
    std::string due;
    for (int i = 0; i < before; ++i) {
      place.data.take();
      ++place.steps;
      if (interrupted.due(place, no_clock))
        due += std::to_string(place.steps) + " ", interrupted.triggered(place.steps, 0);
    }
    StateBox box;
    interrupted.save_state(box, 0);
    cr::Cadence resumed = cr::Cadence::every_epochs(2);
    resumed.load_state(box, 0);
    resumed.session_begins(place, 0);
    EXPECT_EQ(due + due_until_20(resumed, place), "6 12 18 ") << "interrupted after step " << before;
  }
}
TEST(Epochs, AfterARecoveryToAnEarlierEpochTheyAreDueAgain) {
  Place place;
  cr::Cadence timer = cr::Cadence::every_epochs(1);
  timer.session_begins(place, 0);
  EXPECT_EQ(due_until_20(timer, place), "3 6 9 12 15 18 ");
  place = {{{3, 0}}, 9};
  timer.session_begins(place, 0);
  EXPECT_EQ(due_until_20(timer, place), "12 15 18 ");
}

TEST(Epochs, DataThatAreRewoundBeforeTheActionAreNotDue) {
  Place place;
  cr::Cadence timer = cr::Cadence::every_epochs(2);
  timer.session_begins(place, 0);
  place.data.at = {6, 0};
  EXPECT_TRUE(timer.due(place, no_clock));
  EXPECT_TRUE(timer.due(place, no_clock)) << "until the action";
  place.data.at = {1, 0};
  EXPECT_FALSE(timer.due(place, no_clock));
  timer.triggered(1, 0);  // an action at the end, for example
  place.data.at = {2, 0};
  EXPECT_TRUE(timer.due(place, no_clock));
}

TEST(Epochs, StopAtEpochStopsAfterItsLastBatch) {
  Data data;
  auto script = over(data, cr::StopAtEpoch{.last_epoch = 2});
  run(script, data, 100);
  EXPECT_EQ(script.global_step(), 6);
  EXPECT_EQ(script.stop_reason(), "epoch 2 was completed");
}
TEST(Epochs, StopAtEpochCountsFromTheSession) {
  Data data{{5, 1}};
  auto script = over(data, cr::StopAtEpoch{.num_epochs = 2});
  run(script, data, 100);
  EXPECT_EQ(script.global_step(), 5) << "two batches of epoch 6, three of epoch 7";
}
TEST(Epochs, StopAtEpochMayHaveNoLimit) {
  Data data{{3, 0}};
  auto script = over(data, cr::StopAtEpoch{.num_epochs = std::numeric_limits<std::int64_t>::max()});
  run(script, data, 4);
  EXPECT_EQ(script.global_step(), 4);
}
TEST(Epochs, AProgressBarStatesTheEpochAndTheStepsThatAreLeft) {
  Data data{{1, 1}};
  RecordingSink out;
  cr::testing::ManualClock clock;
  auto script = over(data, cr::ProgressBar{.epochs = 3, .line_seconds = 1, .columns = 0, .write = out, .clock = clock});
  for (int i = 0; i < 5; ++i) {
    clock.advance(1);
    run(script, data, 1);
  }
  script.end();
  EXPECT_EQ(out.lines(),
            (Lines{"epoch 2/3 1/5  20% 1.0 steps/s 0:04 left\n", "epoch 3/3 2/5  40% 1.0 steps/s 0:03 left\n",
                   "epoch 3/3 3/5  60% 1.0 steps/s 0:02 left\n", "epoch 3/3 4/5  80% 1.0 steps/s 0:01 left\n",
                   "epoch 3/3 5/5 100% 1.0 steps/s\n"}));
}
TEST(Epochs, AProgressBarMayHaveNoLimit) {
  Data data;
  RecordingSink out;
  auto script = over(data, cr::ProgressBar{.epochs = std::numeric_limits<std::int64_t>::max() / 2,
                                           .columns = 80,
                                           .write = out,
                                           .clock = cr::testing::ManualClock{}});
  run(script, data, 4);
  script.end();
  for (const std::string& line : out.lines()) EXPECT_EQ(line.find("100%"), std::string::npos) << line;
}
TEST(Epochs, StopAtEpochStopsAtOnceWhenItIsReached) {
  Data data{{5, 0}};
  auto script = over(data, cr::StopAtEpoch{.last_epoch = 5});
  EXPECT_TRUE(script.should_stop());
}
TEST(Epochs, StopAtEpochRefusesSettings) {
  Data data;
  EXPECT_THROW(over(data, cr::StopAtEpoch{}), cr::LogicError);
  EXPECT_THROW(over(data, cr::StopAtEpoch{.last_epoch = 1, .num_epochs = 1}), cr::LogicError);
  EXPECT_THROW(over(data, cr::StopAtEpoch{.last_epoch = -1}), cr::LogicError);
}

TEST(Epochs, WithoutDataTheErrorNamesTheCure) {
  try {
    Script script{cr::StopAtEpoch{.last_epoch = 2}};
    FAIL() << "no error";
  } catch (const cr::LogicError& error) {
    EXPECT_STREQ(error.what(),
                 "crochet: the session has no data that count epochs; list CheckpointInputPipeline{batches} in the "
                 "chain, or set SessionOptions::epochs to EpochSource{batches}");
  }
  EXPECT_THROW((Script{cr::LoggingTensor<"loss">{.every_epochs = 1}, value<"loss">(0.5f)}), cr::LogicError);
}

struct TakesTheBatch {
  using handles = cr::Phases<cr::phase::before_run>;
  Data* data;
  cr::RunArgs<> before_run(auto& /*run*/) {
    data->take();
    return {};
  }
};
TEST(Epochs, ABatchTakenTooLateIsAnError) {
  Data data{{0, 2}};
  RecordingSink sink;
  auto late = over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink}, TakesTheBatch{&data});
  EXPECT_THROW(late.step(), cr::LogicError);
  data.at = {0, 2};
  auto in_time = over(data, TakesTheBatch{&data}, cr::LoggingTensor<"loss">{.every_epochs = 1, .sink = sink});
  in_time.step();
  EXPECT_EQ(sink.lines().size(), 1U);
}

TEST(Epochs, AreRefusedWithAnotherInterval) {
  Data data;
  try {
    over(data, cr::LoggingTensor<"loss">{.every_steps = 1, .every_epochs = 1});
    FAIL() << "no error";
  } catch (const cr::LogicError& error) {
    EXPECT_STREQ(
        error.what(),
        "crochet: LoggingTensor<\"loss\">: both every_steps and every_epochs are set; keep exactly one of them");
  }
  EXPECT_THROW(over(data, cr::LoggingTensor<"loss">{.every_epochs = 0}), cr::LogicError);
  EXPECT_THROW(over(data, cr::LoggingTensor<"loss">{.every_epochs = 1, .anchor = cr::Anchor::first_run}),
               cr::LogicError);
}

TEST(Epochs, RowsHaveAColumn) {
  const auto path = std::filesystem::path(testing::TempDir()) / "epochs_test" / "rows.csv";
  std::filesystem::remove_all(path.parent_path());
  Data data;
  auto script = over(data, cr::CsvLogger<"loss">{.path = path, .every_epochs = 1});
  run(script, data, 7);
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "step,epoch,loss\n3,1,0.5\n6,2,0.5\n");
}

TEST(Epochs, AreInEvaluations) {
  Data data;
  RecordingSink sink;
  std::vector<std::int64_t> epochs;
  const std::vector<cr::Feeds<>> batches(2);
  auto script = over(data, cr::Evaluate{cr::fetches<"loss">,
                                        batches,
                                        {.every_epochs = 1,
                                         .at_end = false,
                                         .then = [&](const auto& result) { epochs.push_back(result.epoch); },
                                         .sink = sink,
                                         .clock = cr::testing::ManualClock{}}});
  run(script, data, 7);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(sink.lines()[0], "epoch 1, step 3: loss = 0.5 (2 batches, 0.000 sec)");
}

TEST(Epochs, AreFoundInsideDecorators) {
  Data data;
  Script script{cr::HookChain{cr::Keyed<"data", cr::CheckpointInputPipeline<Data>>{cr::CheckpointInputPipeline{data}},
                              cr::StopAtEpoch{.last_epoch = 1}}};
  run(script, data, 100);
  EXPECT_EQ(script.global_step(), 3);
}

TEST(Epochs, ALivePageAndAProfileAreFineBehindTheHookThatTakesTheBatch) {
  Data data{{0, 1}};
  struct Tracer {
    std::string* log;
    void start() { *log += "start "; }
    void stop(std::int64_t step) { *log += std::to_string(step) + " "; }
    void abandon() { *log += "abandon "; }
  };
  std::string log;
  auto script = over(data, TakesTheBatch{&data}, cr::Profiler{Tracer{&log}, {.every_epochs = 1}});
  for (int i = 0; i < 8; ++i) script.step();
  EXPECT_EQ(log, "start 2 start 5 start 8 ");
}

TEST(Epochs, AProfileOfAnEpochThatEndsWithTheFirstRunIsNotMadeUpFor) {
  Data data{{0, 2}};
  struct Tracer {
    std::string* log;
    void start() {}
    void stop(std::int64_t step) { *log += std::to_string(step) + " "; }
    void abandon() {}
  };
  std::string log;
  auto script = over(data, cr::Profiler{Tracer{&log}, {.every_epochs = 1}});
  run(script, data, 8);
  EXPECT_EQ(log, "4 7 ");
}

TEST(Epochs, ExhaustedPatienceNamesValuesThatWereNoNumbers) {
  cr::MetricChannel metrics;
  Script script{cr::stop_if_exhausted(metrics, "loss", cr::Patience{.aim = cr::Aim::lowest, .patience = 2})};
  for (int i = 1; i <= 2; ++i) {
    metrics.publish("loss", i, std::numeric_limits<double>::quiet_NaN());
    script.step();
  }
  EXPECT_EQ(script.stop_reason(), "loss was not a number for 2 evaluations");
}

}  // namespace epochs_test

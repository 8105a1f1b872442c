// SPDX-License-Identifier: Apache-2.0
// ProgressBar: a bar on a terminal and plain lines elsewhere; the rate of both is limited.
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace progress_bar_test {

namespace cr = crochet;
using cr::value;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

TEST(ProgressBar, DrawsOneLineOnATerminalAgainAndAgain) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.total = 10, .columns = 80, .write = out, .clock = clock}};
  for (int i = 0; i < 10; ++i) {
    clock.advance(0.0625);  // drawn at most every 0.1 s: after every second step
    run.step();
  }
  run.end();
  EXPECT_EQ(out.lines(), (Lines{"\r2/10 [====>               ]  20% 16.0 steps/s 0:01 left\x1b[K",
                                "\r4/10 [========>           ]  40% 16.0 steps/s 0:00 left\x1b[K",
                                "\r6/10 [============>       ]  60% 16.0 steps/s 0:00 left\x1b[K",
                                "\r8/10 [================>   ]  80% 16.0 steps/s 0:00 left\x1b[K",
                                "\r10/10 [====================] 100% 16.0 steps/s\x1b[K",
                                "\r10/10 [====================] 100% 16.0 steps/s\x1b[K", "\n"}));
}

TEST(ProgressBar, WritesALineForEachTenthElsewhere) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.total = 1000, .columns = 0, .write = out, .clock = clock}};
  for (int i = 0; i < 1000; ++i) {
    clock.advance(0.01);
    run.step();
  }
  run.end();
  ASSERT_EQ(out.lines().size(), 10U);
  EXPECT_EQ(out.lines().front(), "100/1000  10% 100.0 steps/s 0:09 left\n");
  EXPECT_EQ(out.lines().back(), "1000/1000 100% 100.0 steps/s\n");
}

TEST(ProgressBar, KnowsNoEndWithoutATotal) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.line_seconds = 30, .columns = 0, .write = out, .clock = clock}};
  for (int i = 0; i < 70; ++i) {
    clock.advance(1);
    run.step();
  }
  run.end();
  EXPECT_EQ(out.lines(), (Lines{"30 1.0 steps/s\n", "60 1.0 steps/s\n", "70 1.0 steps/s\n"}));
}

TEST(ProgressBar, FetchesValuesOnlyForTheRunsItDraws) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::Progress<"loss", "acc">{.total = 20, .columns = 0, .write = out, .clock = clock}};
  std::string fetched;
  for (int i = 0; i < 4; ++i) {
    clock.advance(1);
    run.step(value<"loss">(0.5f), value<"acc">(0.25));
    fetched += run.fetched() + "|";
  }
  EXPECT_EQ(fetched, "|loss acc||loss acc|");
  EXPECT_EQ(out.lines().front(), "2/20  10% 1.0 steps/s 0:18 left  loss = 0.5, acc = 0.25\n");
}

TEST(ProgressBar, TheLastLineHasTheValuesOfTheLastStep) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::Progress<"loss">{.total = 3, .refresh_seconds = 1, .columns = 80, .write = out, .clock = clock}};
  for (const float loss : {0.75F, 0.5F, 0.25F}) {
    clock.advance(0.6);  // the third step is not due by its time
    run.step(value<"loss">(loss));
  }
  run.end();
  ASSERT_EQ(out.lines().size(), 4U);
  EXPECT_TRUE(out.lines()[0].ends_with("loss = 0.5\x1b[K")) << out.lines()[0];
  EXPECT_TRUE(out.lines()[2].ends_with("loss = 0.25\x1b[K")) << out.lines()[2];
}

TEST(ProgressBar, TheLastLineStatesTheStepOfItsValues) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::Progress<"loss">{.line_seconds = 2, .columns = 0, .write = out, .clock = clock}};
  for (const float loss : {0.75F, 0.5F, 0.25F}) {
    clock.advance(1);
    run.step(value<"loss">(loss));
  }
  run.end();
  EXPECT_EQ(out.lines(), (Lines{"2 1.0 steps/s  loss = 0.5\n", "3 1.0 steps/s  loss = 0.5 at step 2\n"}));
}

TEST(ProgressBar, DoesNotWrapOnANarrowTerminal) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.total = 10, .columns = 12, .write = out, .clock = clock}};
  clock.advance(1);
  run.step();
  EXPECT_EQ(out.lines(), Lines{"\r1/10 [==>  \x1b[K"});
}

TEST(ProgressBar, LeavesTheLineAfterAnError) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.columns = 80, .write = out, .clock = clock}};
  clock.advance(1);
  run.step();
  run.fail(std::runtime_error("x"));
  EXPECT_EQ(out.lines(), (Lines{"\r1 1.0 steps/s\x1b[K", "\n"}));
}

TEST(ProgressBar, HoursAreHours) {
  EXPECT_EQ((cr::detail::ProgressLine{.step = 1, .total = 7323, .rate = 1}.text(false)),
            "1/7323   0% 1.0 steps/s 2:02:02 left");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 1, .total = 3601, .rate = 1}.text(false)),
            "1/3601   0% 1.0 steps/s 1:00:00 left");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 1, .total = 3600, .rate = 1}.text(false)),
            "1/3600   0% 1.0 steps/s 59:59 left");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 1, .total = 122, .rate = 1}.text(false)),
            "1/122   0% 1.0 steps/s 2:01 left");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 0, .total = 7259, .rate = 1}.text(false)),
            "0/7259   0% 1.0 steps/s 2:00:59 left");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 12, .total = 10, .rate = 1}.text(false)), "12/10 100% 1.0 steps/s");
  EXPECT_EQ((cr::detail::ProgressLine{.step = 0, .total = 0}.text(true)), "0/0 [====================] 100%");
}

TEST(ProgressBar, TheLastStepIsOneAtLeast) {
  EXPECT_THROW((Script{cr::Progress<>{.total = 0}}), cr::LogicError);
  EXPECT_THROW((Script{cr::Progress<>{.epochs = -3}}), cr::LogicError);
}

TEST(ProgressBar, AValueThatNoRunHasShownIsLeftOut) {
  RecordingSink out;
  Script run{cr::Progress<"drift">{.total = 10, .columns = 80, .write = out, .clock = ManualClock{}}};
  run.end();
  EXPECT_EQ(out.lines(), (Lines{"\r0/10 [>                   ]   0%\x1b[K", "\n"}));
}

TEST(ProgressBar, IsDrawnAgainAsSoonAsTheRefreshTimeHasPassed) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.refresh_seconds = 2, .columns = 80, .write = out, .clock = clock}};
  for (int i = 0; i < 5; ++i) {
    clock.advance(1);
    run.step();
  }
  EXPECT_EQ(out.lines(), (Lines{"\r2 1.0 steps/s\x1b[K", "\r4 1.0 steps/s\x1b[K"}));
}

TEST(ProgressBar, RunsBeforeTheLastStepThatMakeNoStepDrawOnce) {
  RecordingSink out;
  ManualClock clock;
  Script run{cr::ProgressBar{.total = 2, .columns = 80, .write = out, .clock = clock}};
  run.step();
  for (int i = 0; i < 3; ++i) {
    run.step();
    run.set_step(1);  // an evaluation does not advance the step
  }
  EXPECT_EQ(out.lines().size(), 1U);
}

/// Creates sessions that begin at this step.
struct BeginsAt {
  std::int64_t step;
  void create_session(auto& session, auto& /*coordinator*/) const { session.set_step(step); }
};
/// The lines of a session that begins at step 500 and makes `runs` steps, one a second.
Lines lines_from_500(std::int64_t runs, int columns) {
  RecordingSink out;
  ManualClock clock;
  cr::MonitoredSession session{
      cr::StepExecutor{[](auto&) {}},
      cr::HookChain{cr::ProgressBar{.total = 1000, .columns = columns, .write = out, .clock = clock}}, BeginsAt{500}};
  for (std::int64_t i = 0; i < runs; ++i) {
    clock.advance(1);
    session.run();
  }
  session.close();
  return out.lines();
}

TEST(ProgressBar, InAResumedSessionTheRateIsThatOfItsOwnSteps) {
  EXPECT_EQ(lines_from_500(2, 80), (Lines{"\r501/1000 [==========>         ]  50% 1.0 steps/s 8:19 left\x1b[K",
                                          "\r502/1000 [==========>         ]  50% 1.0 steps/s 8:18 left\x1b[K",
                                          "\r502/1000 [==========>         ]  50% 1.0 steps/s 8:18 left\x1b[K", "\n"}));
}

TEST(ProgressBar, AResumedSessionWritesNoLineForATenthThatWasReachedBefore) {
  EXPECT_EQ(lines_from_500(2, 0), Lines{"502/1000  50% 1.0 steps/s 8:18 left\n"});
  EXPECT_EQ(lines_from_500(0, 0), Lines{}) << "nothing has changed";
}

/// Loses the session in its third run. The next session begins at step 0.
struct LosesItsThirdRun {
  int runs = 0;
  void before_run(auto&) {
    if (++runs == 3) throw cr::AbortedError("lost");
  }
};

TEST(ProgressBar, TheRateAfterARecoveryIsThatOfTheNewSession) {
  const cr::DiagnosticSink before = cr::set_diagnostic_sink([](std::string_view) {});
  RecordingSink out;
  ManualClock clock;
  cr::MonitoredSession session{
      cr::StepExecutor{[](auto&) {}},
      cr::HookChain{cr::ProgressBar{.refresh_seconds = 1, .columns = 80, .write = out, .clock = clock},
                    LosesItsThirdRun{}},
      BeginsAt{0}, cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  for (int i = 0; i < 4; ++i) {
    clock.advance(i < 3 ? 1 : 4);
    session.run();
  }
  session.close();
  cr::set_diagnostic_sink(before);
  EXPECT_EQ(out.lines(), (Lines{"\r1 1.0 steps/s\x1b[K", "\r2 1.0 steps/s\x1b[K", "\r2 0.5 steps/s\x1b[K",
                                "\r2 0.5 steps/s\x1b[K", "\n"}));
}

}  // namespace progress_bar_test

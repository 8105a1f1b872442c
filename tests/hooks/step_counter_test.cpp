// SPDX-License-Identifier: Apache-2.0
// StepCounter: steps per second.
#include <crochet/hooks/step_counter.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace step_counter_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

TEST(StepCounter, ReportsEveryTenSteps) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_steps = 10, .sink = sink, .clock = clock}};
  std::string reported;
  for (int i = 1; i <= 30; ++i) {
    clock.advance(i <= 10 ? 0.5 : 0.25);
    run.step();
    if (sink.lines().empty()) continue;
    reported += sink.text();
    sink.clear();
  }
  EXPECT_EQ(reported, "step 10: global_step/sec = 2\nstep 20: global_step/sec = 4\nstep 30: global_step/sec = 4\n");
  EXPECT_EQ(run.hook().steps_per_second, 4);
  EXPECT_EQ(run.fetched(), "");
}

TEST(StepCounter, EveryTenSeconds) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_seconds = 10, .sink = sink, .clock = clock}};
  for (int i = 0; i < 6; ++i) {
    clock.advance(4);
    run.step();
  }
  EXPECT_EQ(sink.lines(), (Lines{"step 3: global_step/sec = 0.25", "step 6: global_step/sec = 0.25"}))
      << "at 12 s and 24 s";
}

TEST(StepCounter, StepsMayAdvanceByMoreThanOne) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_steps = 5, .sink = sink, .clock = clock}};
  for (int i = 1; i <= 3; ++i) {
    run.set_step(10 * i - 1);
    clock.advance(1);
    run.step();
  }
  EXPECT_EQ(sink.lines(),
            (Lines{"step 10: global_step/sec = 10", "step 20: global_step/sec = 10", "step 30: global_step/sec = 10"}));
}

TEST(StepCounter, ARewindIsNotANegativeRate) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_steps = 10, .sink = sink, .clock = clock}};
  run.set_step(99);
  clock.advance(100);
  run.step();
  EXPECT_EQ(sink.lines(), Lines{"step 100: global_step/sec = 1"});
  sink.clear();
  run.set_step(50);
  for (int i = 0; i < 11; ++i) {
    clock.advance(0.1);
    run.step();
  }
  EXPECT_EQ(sink.lines(), Lines{"step 60: global_step/sec = 10"}) << "at the next multiple after the rewind to 51";
}

/// The part of a recovered session that hooks use: its step.
struct SessionAt {
  [[nodiscard]] std::int64_t step() const { return at; }
  std::int64_t at;
};

TEST(StepCounter, TheTimeOfARecoveryIsNotCounted) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_steps = 2, .sink = sink, .clock = clock}};
  clock.advance(1);
  run.step();
  clock.advance(1000);
  SessionAt recovered{1};
  run.hook().after_create_session(recovered, run.coordinator());
  for (int i = 0; i < 2; ++i) {
    clock.advance(1);
    run.step();
  }
  EXPECT_EQ(sink.lines(), Lines{"step 2: global_step/sec = 1"});
}

TEST(StepCounter, HasNoRateIfNoTimeHasPassed) {
  RecordingSink sink;
  ManualClock clock;
  Script run{cr::StepCounter{.every_steps = 2, .sink = sink, .clock = clock}};
  for (int i = 0; i < 2; ++i) run.step();
  EXPECT_EQ(sink.lines(), Lines{});
  EXPECT_EQ(run.hook().steps_per_second, 0);
  clock.advance(1);
  for (int i = 0; i < 2; ++i) run.step();
  EXPECT_EQ(sink.lines(), Lines{"step 4: global_step/sec = 2"});
}

TEST(StepCounter, CountsRunsWithoutProgressInEachSessionAnew) {
  RecordingSink sink;
  Script run{cr::StepCounter{.every_steps = 10, .sink = sink}};
  const auto runs_to_5 = [&](int count) {
    for (int i = 0; i < count; ++i) {
      run.set_step(4);
      run.step();
    }
  };
  runs_to_5(15);
  SessionAt recovered{5};
  run.hook().after_create_session(recovered, run.coordinator());
  runs_to_5(15);
  EXPECT_EQ(sink.lines(), Lines{});
}

TEST(StepCounter, SaysOnceThatTheStepDoesNotAdvance) {
  RecordingSink sink;
  Script run{cr::StepCounter{.every_steps = 10, .sink = sink}};
  for (int i = 0; i < 100; ++i) {
    run.set_step(4);
    run.step();
  }
  ASSERT_EQ(sink.lines().size(), 1U);
  EXPECT_NE(sink.lines()[0].find("not advanced the global step"), std::string::npos);
}

TEST(StepCounter, SaysItOnceForAStepOfManyRuns) {
  RecordingSink sink;
  Script run{cr::StepCounter{.every_steps = 10, .sink = sink}};
  run.set_step(4);
  run.step();
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(sink.lines().size(), i <= 20 ? 0U : 1U) << "after 20 runs";
    run.set_step(4 + i / 32);
    run.step();
  }
}

TEST(StepCounter, EveryHundredStepsByDefault) {
  EXPECT_EQ(cr::StepCounter{}.cadence(), "every 100 steps");
  EXPECT_EQ(cr::StepCounter{.every_seconds = 1.5}.cadence(), "every 1.5 s");
  cr::StepCounter both{.every_steps = 1, .every_seconds = 1};
  EXPECT_THROW(both.begin(), cr::LogicError);
  cr::StepCounter zero{.every_steps = 0};
  EXPECT_THROW(zero.begin(), cr::LogicError);
}

}  // namespace step_counter_test

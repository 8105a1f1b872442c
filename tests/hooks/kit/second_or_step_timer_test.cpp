// SPDX-License-Identifier: Apache-2.0
// SecondOrStepTimer and NeverTriggerTimer. Names such as Y2 are rows of the original's tests.
#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/second_or_step_timer.hpp>
#include <crochet/testing/manual_clock.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "../../refusal.hpp"

namespace second_or_step_timer_test {

namespace cr = crochet;
using cr::testing::ManualClock;

using crochet::test::refusal;

TEST(SecondOrStepTimer, Y1WantsExactlyOneInterval) {
  using Timer = cr::SecondOrStepTimer;
  EXPECT_NE(refusal([] { Timer{{}}; }), "");
  EXPECT_NE(refusal([] { Timer{{.every_steps = 1, .every_seconds = 2}}; }), "");
  EXPECT_NE(refusal([] { Timer{{.every_steps = 20, .every_seconds = 0}}; }), "") << "0 is given, too";
  EXPECT_NE(refusal([] { Timer{{.every_steps = 0}}; }), "");
}

TEST(SecondOrStepTimer, Y2Seconds) {
  ManualClock clock{100};
  cr::SecondOrStepTimer timer{{.every_seconds = 1.0, .clock = clock}};
  EXPECT_TRUE(timer.should_trigger_for_step(1));
  timer.update_last_triggered_step(1);
  EXPECT_FALSE(timer.should_trigger_for_step(1));
  EXPECT_FALSE(timer.should_trigger_for_step(2));
  clock.advance(1.0);
  EXPECT_FALSE(timer.should_trigger_for_step(1)) << "never twice for one step";
  EXPECT_TRUE(timer.should_trigger_for_step(2)) << "when the interval is reached, not exceeded";
}

TEST(SecondOrStepTimer, Y3Steps) {
  cr::SecondOrStepTimer timer{{.every_steps = 3}};
  EXPECT_TRUE(timer.should_trigger_for_step(1));
  EXPECT_TRUE(timer.should_trigger_for_step(1)) << "asking changes nothing";
  EXPECT_EQ(timer.last_triggered_step(), std::nullopt);
  timer.update_last_triggered_step(1);
  for (const std::int64_t step : {1, 2, 3}) EXPECT_FALSE(timer.should_trigger_for_step(step));
  EXPECT_TRUE(timer.should_trigger_for_step(4));
  EXPECT_EQ(timer.last_triggered_step(), 1);
  timer.reset();
  EXPECT_TRUE(timer.should_trigger_for_step(1));
}

TEST(SecondOrStepTimer, Y4TellsWhatHasPassed) {
  ManualClock clock{5};
  cr::SecondOrStepTimer timer{{.every_seconds = 1.0, .clock = clock}};
  EXPECT_FALSE(timer.update_last_triggered_step(1));
  clock.advance(2);
  auto passed = timer.update_last_triggered_step(5);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->seconds, 2);
  EXPECT_EQ(passed->steps, 4);
  passed = timer.update_last_triggered_step(7);
  EXPECT_EQ(passed->steps, 2);
}

TEST(SecondOrStepTimer, AfterAStepBackwardsTheIntervalBeginsThere) {
  cr::SecondOrStepTimer timer{{.every_steps = 3}};
  timer.update_last_triggered_step(100);
  EXPECT_TRUE(timer.should_trigger_for_step(5));
  EXPECT_EQ(timer.update_last_triggered_step(5), std::nullopt);
  for (const std::int64_t step : {5, 6, 7}) EXPECT_FALSE(timer.should_trigger_for_step(step));
  EXPECT_TRUE(timer.should_trigger_for_step(8));
}

TEST(NeverTriggerTimer, NeverDoes) {
  cr::NeverTriggerTimer timer;
  timer.reset();
  EXPECT_FALSE(timer.should_trigger_for_step(1));
  EXPECT_FALSE(timer.update_last_triggered_step(1));
  EXPECT_FALSE(timer.last_triggered_step());
}

}  // namespace second_or_step_timer_test

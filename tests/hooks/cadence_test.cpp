// SPDX-License-Identifier: Apache-2.0
// When something is due: the rules of the original's timer, and the three that are not.
#include <crochet/hooks/cadence.hpp>
#include <crochet/hooks/clock.hpp>
#include <crochet/testing/manual_clock.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

namespace {

namespace cr = crochet;
using cr::Cadence;
using cr::testing::ManualClock;

struct SomeHook {};

TEST(Cadence, EveryThreeStepsFromTheFirst) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(3);
  EXPECT_TRUE(timer.due(1, clock));
  EXPECT_TRUE(timer.due(1, clock)) << "asking changes nothing";
  EXPECT_FALSE(timer.triggered(1, clock()).has_value()) << "nothing lies before the first time";
  EXPECT_FALSE(timer.due(1, clock));
  EXPECT_FALSE(timer.due(2, clock));
  EXPECT_FALSE(timer.due(3, clock));
  EXPECT_TRUE(timer.due(4, clock));
}

TEST(Cadence, EverySecondButNeverTwiceForOneStep) {
  ManualClock clock{100};
  Cadence timer = Cadence::every_seconds(1);
  EXPECT_TRUE(timer.due(1, clock));
  timer.triggered(1, clock());
  EXPECT_FALSE(timer.due(1, clock));
  EXPECT_FALSE(timer.due(2, clock));
  clock.advance(1);
  EXPECT_FALSE(timer.due(1, clock));
  EXPECT_TRUE(timer.due(2, clock));
}

TEST(Cadence, TellsTheDistanceFromTheLastTime) {
  ManualClock clock;
  Cadence timer = Cadence::every_seconds(1);
  timer.triggered(1, clock());
  clock.advance(2.5);
  const auto elapsed = timer.triggered(5, clock());
  ASSERT_TRUE(elapsed.has_value());
  EXPECT_DOUBLE_EQ(elapsed->seconds, 2.5);
  EXPECT_EQ(elapsed->steps, 4);
  EXPECT_EQ(timer.triggered(7, clock())->steps, 2);
}

TEST(Cadence, AfterAnIntervalBeginsWithTheFirstQuestion) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10, Cadence::First::after_interval);
  EXPECT_FALSE(timer.due(7, clock));
  EXPECT_FALSE(timer.due(16, clock));
  EXPECT_TRUE(timer.due(17, clock));
}

TEST(Cadence, AfterAnIntervalBeginsWithStart) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10, Cadence::First::after_interval);
  timer.start(0, clock());
  EXPECT_FALSE(timer.due(9, clock));
  EXPECT_TRUE(timer.due(10, clock));
  EXPECT_EQ(timer.triggered(10, clock())->steps, 10);
}

TEST(Cadence, StartsOverWhenTheStepGoesBackwards) {
  ManualClock clock;
  Cadence at_once = Cadence::every_steps(10);
  at_once.triggered(1000, clock());
  EXPECT_TRUE(at_once.due(500, clock)) << "and is not silent until step 1010";
  EXPECT_FALSE(at_once.triggered(500, clock()).has_value()) << "no negative distance";
  EXPECT_FALSE(at_once.due(509, clock));
  EXPECT_TRUE(at_once.due(510, clock));

  Cadence later = Cadence::every_seconds(5, Cadence::First::after_interval);
  later.start(1000, clock());
  clock.advance(100);
  EXPECT_FALSE(later.due(500, clock)) << "the time before the rewind does not count";
  clock.advance(5);
  EXPECT_TRUE(later.due(501, clock));
}

TEST(Cadence, StepsMayAdvanceByMoreThanOne) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  std::string due;
  for (int step = 5; step <= 40; step += 5) {
    if (!timer.due(step, clock)) continue;
    timer.triggered(step, clock());
    due += std::to_string(step) + " ";
  }
  EXPECT_EQ(due, "5 15 25 35 ");
}

TEST(Cadence, NeverIsNeverDue) {
  ManualClock clock;
  Cadence timer;
  EXPECT_FALSE(timer.due(1, clock));
  EXPECT_FALSE(timer.triggered(1, clock()).has_value());
  EXPECT_FALSE(timer.triggered(2, clock()).has_value());
}

TEST(Cadence, CountingStepsDoesNotReadTheClock) {
  int readings = 0;
  const auto clock = [&] { return ++readings; };
  Cadence timer = Cadence::every_steps(2);
  timer.triggered(1, 0);
  for (int step = 1; step < 100; ++step) (void)timer.due(step, clock);
  EXPECT_EQ(readings, 0);
}

std::string refusal(std::optional<std::int64_t> steps, std::optional<double> seconds,
                    const cr::CadenceNames& names = {}) {
  try {
    cr::required_cadence_of<SomeHook>(steps, seconds, Cadence::First::at_once, names);
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(Cadence, ExactlyOneSettingInRange) {
  EXPECT_EQ(refusal(10, {}), "");
  EXPECT_EQ(refusal({}, 0.5), "");
  EXPECT_EQ(refusal({}, {}), "crochet: SomeHook: set exactly one of every_steps and every_seconds");
  EXPECT_EQ(refusal(10, 0.5),
            "crochet: SomeHook: both every_steps and every_seconds are set; keep exactly one of them");
  EXPECT_EQ(refusal(0, {}), "crochet: SomeHook: invalid every_steps = 0; it has to be above 0");
  EXPECT_EQ(refusal(0, {}, {"save_steps", "save_secs"}),
            "crochet: SomeHook: invalid save_steps = 0; it has to be above 0");
  EXPECT_EQ(refusal({}, {}, {"save_steps", "save_secs"}),
            "crochet: SomeHook: set exactly one of save_steps and save_secs");
  EXPECT_EQ(refusal(-10, {}), "crochet: SomeHook: invalid every_steps = -10; it has to be above 0");
  EXPECT_NE(refusal({}, -1.0).find("invalid every_seconds"), std::string::npos) << "the original does not look";
  EXPECT_NE(refusal({}, std::nan("")).find("invalid every_seconds"), std::string::npos);
}

TEST(Cadence, InWords) {
  EXPECT_EQ(cr::cadence_text(100, {}), "every 100 steps");
  EXPECT_EQ(cr::cadence_text(1, {}), "every step");
  EXPECT_EQ(cr::cadence_text({}, 10.0), "every 10 s");
  EXPECT_EQ(cr::cadence_text({}, 0.25), "every 0.25 s");
  EXPECT_EQ(cr::cadence_text({}, {}), "");
}

TEST(Clock, IsSteadyUnlessAnotherIsGiven) {
  const cr::Clock machine;
  const double before = machine();
  EXPECT_GE(machine(), before);
  ManualClock mine{7};
  const cr::Clock given{mine};
  EXPECT_EQ(given(), 7);
  mine.advance(1);
  EXPECT_EQ(given(), 8);
}

}  // namespace

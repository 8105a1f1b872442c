// SPDX-License-Identifier: Apache-2.0
// When something is due: the rules of the original's timer, and three deliberate differences.
#include <crochet/base/clock.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace cadence_test {

namespace cr = crochet;
using cr::Anchor;
using cr::Cadence;
using cr::testing::ManualClock;

struct SomeHook {};

TEST(Cadence, EveryThreeStepsFromTheFirst) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(3, Anchor::first_run);
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

TEST(Cadence, AfterAnIntervalBeginsWithTheFirstTest) {
  ManualClock clock;
  Cadence timer = Cadence::every_seconds(10, Cadence::First::after_interval);
  EXPECT_FALSE(timer.due(7, clock));
  clock.advance(9);
  EXPECT_FALSE(timer.due(16, clock));
  clock.advance(1);
  EXPECT_TRUE(timer.due(17, clock));
}

TEST(Cadence, AfterAnIntervalBeginsWithStart) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10, Anchor::first_run);
  timer.start(0, clock());
  EXPECT_FALSE(timer.due(9, clock));
  EXPECT_TRUE(timer.due(10, clock));
  EXPECT_EQ(timer.triggered(10, clock())->steps, 10);
}

TEST(Cadence, StartsOverWhenTheStepGoesBackwards) {
  ManualClock clock;
  Cadence at_once = Cadence::every_steps(10, Anchor::first_run);
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

/// The steps after which a hook acts that tests the cadence after the run. A run has `stride` steps.
std::string acts_after(Cadence timer, int stride, int from, int to) {
  ManualClock clock;
  std::string acted;
  timer.session_begins(from, clock());
  for (int step = from; step < to;) {
    step += stride;
    if (!timer.due(step, clock)) continue;
    timer.triggered(step, clock());
    acted += std::to_string(step) + " ";
  }
  return acted;
}
/// The same for a hook that tests the cadence before the run.
std::string decides_before(Cadence timer, int stride, int from, int to) {
  ManualClock clock;
  std::string acted;
  for (int step = from; step < to;) {
    const bool due = timer.due_next(step, clock);
    step += stride;
    const bool reached = timer.ran(step);
    if (!due || !reached) continue;
    timer.triggered(step, clock());
    acted += std::to_string(step) + " ";
  }
  return acted;
}

TEST(Cadence, ActsAtMultiplesOfTheGlobalStep) {
  const Cadence timer = Cadence::every_steps(10);
  for (const auto steps : {acts_after, decides_before}) {
    EXPECT_EQ(steps(timer, 1, 0, 35), "10 20 30 ");
    EXPECT_EQ(steps(timer, 1, 7, 35), "10 20 30 ") << "a resumed session is aligned";
    EXPECT_EQ(steps(timer, 1, 9, 21), "10 20 ");
    EXPECT_EQ(steps(timer, 1, 10, 35), "20 30 ") << "a step that is over does not come again";
    EXPECT_EQ(steps(Cadence::every_steps(1), 1, 0, 3), "1 2 3 ");
  }
}

TEST(Cadence, ActsInTheFirstRunAndThenEveryNSteps) {
  const Cadence timer = Cadence::every_steps(10, Anchor::first_run);
  for (const auto steps : {acts_after, decides_before}) {
    EXPECT_EQ(steps(timer, 1, 0, 25), "1 11 21 ");
    EXPECT_EQ(steps(timer, 1, 100, 125), "101 111 121 ");
    EXPECT_EQ(steps(timer, 5, 0, 40), "5 15 25 35 ");
  }
}

TEST(Cadence, ARunOfSeveralStepsIsDueOnceWhenItPassesAMultiple) {
  const Cadence timer = Cadence::every_steps(10);
  EXPECT_EQ(acts_after(timer, 4, 0, 44), "12 20 32 40 ");
  EXPECT_EQ(acts_after(timer, 10, 0, 40), "10 20 30 40 ");
  EXPECT_EQ(acts_after(timer, 25, 0, 75), "25 50 75 ");
  EXPECT_EQ(decides_before(timer, 4, 0, 44), "12 20 32 40 ") << "the stride is that of the run before";
  EXPECT_EQ(decides_before(timer, 10, 0, 40), "20 30 40 ") << "and not yet known in the first run";
  EXPECT_EQ(decides_before(timer, 25, 0, 75), "50 75 ");
}

TEST(Cadence, ARunThatFallsShortOfAMultipleLeavesItDue) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  EXPECT_TRUE(timer.due_next(9, clock));
  EXPECT_FALSE(timer.ran(9)) << "an evaluation";
  EXPECT_TRUE(timer.due_next(9, clock));
  EXPECT_TRUE(timer.ran(10));
  timer.triggered(10, clock());
  EXPECT_FALSE(timer.due_next(10, clock));
}

TEST(Cadence, WhatActsInARunThatFallsShortActsOnce) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  EXPECT_TRUE(timer.due_next(9, clock));
  timer.ran(9);
  timer.triggered(9, clock());
  EXPECT_FALSE(timer.due_next(9, clock));
  EXPECT_FALSE(timer.due_next(18, clock));
  EXPECT_TRUE(timer.due_next(19, clock));
}

TEST(Cadence, ARunThatReachesAMultipleWithFewerStepsSkipsNone) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  timer.due_next(76, clock), timer.ran(88);
  timer.triggered(88, clock());
  EXPECT_TRUE(timer.due_next(88, clock)) << "predicted: step 100";
  EXPECT_TRUE(timer.ran(95)) << "90";
  timer.triggered(95, clock());
  EXPECT_TRUE(timer.due_next(95, clock)) << "100";
}

TEST(Cadence, ItsStateHasTheStepsOfARun) {
  const ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  timer.due_next(0, clock), timer.ran(4);
  timer.due_next(4, clock), timer.ran(8);
  cr::testing::StateBox box;
  timer.save_state(box, 0);
  Cadence resumed = Cadence::every_steps(10);
  resumed.load_state(box, 0);
  EXPECT_TRUE(resumed.due_next(8, clock)) << "the run makes step 12";
}

TEST(Cadence, MultiplesComeAgainAfterAStepBack) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  timer.triggered(40, clock());
  EXPECT_FALSE(timer.due(15, clock));
  EXPECT_TRUE(timer.due(20, clock));
  timer.triggered(20, clock());
  EXPECT_FALSE(timer.due_next(12, clock)) << "and before the run, too";
  EXPECT_TRUE(timer.due_next(19, clock));
}

TEST(Cadence, TheFirstLineAtAMultipleHasTheTimeSinceTheFirstRun) {
  ManualClock clock;
  Cadence timer = Cadence::every_steps(10);
  EXPECT_FALSE(timer.due_next(0, clock));
  clock.advance(2);
  const auto elapsed = timer.triggered(10, clock());
  ASSERT_TRUE(elapsed.has_value());
  EXPECT_EQ(elapsed->seconds, 2);
  EXPECT_EQ(elapsed->steps, 10);
}

/// A cadence with the state of `saved`, as a session restores it.
Cadence resumed(const Cadence& saved, Cadence fresh) {
  cr::testing::StateBox box;
  saved.save_state(box, 0);
  fresh.load_state(box, 0);
  return fresh;
}

TEST(Cadence, AResumedOneGoesOn) {
  ManualClock clock;
  for (const Anchor anchor : {Anchor::global_step, Anchor::first_run}) {
    Cadence timer = Cadence::every_steps(10, anchor);
    timer.start(1, 0);
    timer.triggered(11, 0);
    EXPECT_EQ(acts_after(resumed(timer, Cadence::every_steps(10, anchor)), 1, 15, 32),
              anchor == Anchor::global_step ? "20 30 " : "21 31 ");
  }
}

TEST(Cadence, WhatWasDueAtTheCheckpointIsDueAfterIt) {
  Cadence timer = Cadence::every_steps(10);
  timer.start(0, 0);  // no trigger at 10
  EXPECT_EQ(acts_after(resumed(timer, Cadence::every_steps(10)), 1, 10, 21), "11 20 ");
}

TEST(Cadence, AStateOfBeforeTheFirstIntervalIsABeginning) {  // of a recovery: the checkpoint is of the start
  ManualClock clock;
  cr::testing::StateBox box;
  Cadence timer = Cadence::every_steps(100, Anchor::first_run);
  timer.save_state(box, clock());
  ASSERT_TRUE(timer.due(1, clock));
  timer.triggered(1, clock());
  timer.load_state(box, clock());
  EXPECT_TRUE(timer.due(1, clock));
}

TEST(Cadence, AnotherIntervalOrAnchorThanTheSavedOneIsAlignedToo) {
  Cadence hundred = Cadence::every_steps(100);
  hundred.start(100, 0);
  EXPECT_EQ(acts_after(resumed(hundred, Cadence::every_steps(10)), 1, 155, 171), "156 160 170 ") << "150 is due";
  Cadence first_run = Cadence::every_steps(100, Anchor::first_run);
  first_run.triggered(101, 0);
  EXPECT_EQ(acts_after(resumed(first_run, Cadence::every_steps(100)), 1, 150, 301), "200 300 ");
}

TEST(Cadence, AcceptsTheStateOfAnOlderVersion) {
  cr::testing::StateBox box;
  box.put("cadence.started", true);
  box.put("cadence.step", std::int64_t{101});
  box.put("cadence.seconds", 0.5);
  Cadence multiples = Cadence::every_steps(100), first_run = Cadence::every_steps(100, Anchor::first_run);
  multiples.load_state(box, 0);
  first_run.load_state(box, 0);
  EXPECT_EQ(acts_after(multiples, 1, 150, 301), "200 300 ");
  EXPECT_EQ(acts_after(first_run, 1, 150, 301), "201 301 ");
}

/// UndefinedBehaviorSanitizer reports a sum that overflows.
TEST(Cadence, AStateThatNoSessionHasOverflowsNothing) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t extreme : {least, least + 1, most - 1, most}) {
    cr::testing::StateBox box;
    box.put("cadence.started", true);
    box.put("cadence.step", extreme);
    box.put("cadence.seconds", 0.0);
    box.put("cadence.stride", extreme);
    for (const Anchor anchor : {Anchor::global_step, Anchor::first_run}) {
      Cadence timer = Cadence::every_steps(10, anchor);
      timer.load_state(box, 0);
      timer.session_begins(100, 0);
      EXPECT_FALSE(acts_after(timer, 1, 100, 130).empty()) << extreme;
    }
    Cadence seconds = Cadence::every_seconds(0);
    seconds.load_state(box, 0);
    EXPECT_TRUE(seconds.due(100, [] { return 1.0; }));
    seconds.triggered(100, 1);
  }
}

TEST(Cadence, ASavedTimeThatIsNoneEndsAnInterval) {
  for (const double seconds : {std::nan(""), -HUGE_VAL, -1e300, HUGE_VAL}) {
    cr::testing::StateBox box;
    box.put("cadence.started", true);
    box.put("cadence.step", std::int64_t{1});
    box.put("cadence.seconds", seconds);
    Cadence timer = Cadence::every_seconds(2);
    timer.load_state(box, 5);
    EXPECT_TRUE(timer.due(3, [] { return 7.0; })) << seconds;
  }
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
    cr::required_cadence_of<SomeHook>({steps, seconds, {}}, Anchor::global_step, Cadence::First::at_once, names);
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(Cadence, ExactlyOneSettingInRange) {
  EXPECT_EQ(refusal(10, {}), "");
  EXPECT_EQ(refusal({}, 0.5), "");
  EXPECT_EQ(refusal({}, {}), "crochet: SomeHook: set exactly one of every_steps, every_seconds and every_epochs");
  EXPECT_EQ(refusal(10, 0.5),
            "crochet: SomeHook: both every_steps and every_seconds are set; keep exactly one of them");
  EXPECT_EQ(refusal(0, {}), "crochet: SomeHook: invalid every_steps = 0; it has to be above 0");
  EXPECT_EQ(refusal(0, {}, {"save_steps", "save_secs"}),
            "crochet: SomeHook: invalid save_steps = 0; it has to be above 0");
  EXPECT_EQ(refusal({}, {}, {"save_steps", "save_secs", "save_epochs"}),
            "crochet: SomeHook: set exactly one of save_steps, save_secs and save_epochs");
  EXPECT_EQ(refusal(-10, {}), "crochet: SomeHook: invalid every_steps = -10; it has to be above 0");
  EXPECT_NE(refusal({}, -1.0).find("invalid every_seconds"), std::string::npos) << "the original does not look";
  EXPECT_NE(refusal({}, std::nan("")).find("invalid every_seconds"), std::string::npos);
}

TEST(Cadence, InWords) {
  EXPECT_EQ(cr::cadence_text({.steps = 100}), "every 100 steps");
  EXPECT_EQ(cr::cadence_text({.steps = 1}), "every step");
  EXPECT_EQ(cr::cadence_text({.steps = 100}, Anchor::first_run), "every 100 steps from the first run on");
  EXPECT_EQ(cr::cadence_text({.seconds = 10.0}), "every 10 s");
  EXPECT_EQ(cr::cadence_text({.seconds = 0.25}), "every 0.25 s");
  EXPECT_EQ(cr::cadence_text({.seconds = 1e-7}), "every 1e-07 s");
  EXPECT_EQ(cr::cadence_text({.seconds = 100000.0}), "every 100000 s");
  EXPECT_EQ(cr::cadence_text({}), "");
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

}  // namespace cadence_test

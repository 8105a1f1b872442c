// SPDX-License-Identifier: Apache-2.0
// When a timer is due, and when to stop: spec 4.1 and 4.3.
#include <crochet/hooks/kit/second_or_step_timer.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "behaviour.hpp"
#include "hook_loop.hpp"

namespace crochet::conformance {
namespace timer_and_stop_scenarios {

using Timer = SecondOrStepTimer;

SAME(Y1, "a timer is given both intervals, or none", "refused (ValueError)") {
  EXPECT_THROW((Timer{{.every_steps = 3, .every_seconds = 1.0}}), LogicError);
  EXPECT_THROW(Timer{{}}, LogicError);
  EXPECT_THROW((Timer{{.every_steps = 0, .every_seconds = 1.0}}), LogicError) << "zero counts as given";
  EXPECT_NO_THROW((Timer{{.every_steps = 3}}));
}

SAME(Y2, "every second: tested at steps 1 and 2, then again a second later",
     "due before it was ever triggered; then at neither step; a second later still not for step 1, but for step 2") {
  testing::ManualClock clock;
  Timer timer{{.every_seconds = 1.0, .clock = clock}};
  EXPECT_TRUE(timer.should_trigger_for_step(1));
  timer.update_last_triggered_step(1);
  EXPECT_FALSE(timer.should_trigger_for_step(1));
  EXPECT_FALSE(timer.should_trigger_for_step(2));
  clock.advance(1.0);
  EXPECT_FALSE(timer.should_trigger_for_step(1));
  EXPECT_TRUE(timer.should_trigger_for_step(2));
}

SAME(Y3, "every 3 steps, triggered at step 1", "due at first; then not at 1, 2 and 3, but at 4") {
  Timer timer{{.every_steps = 3}};
  EXPECT_TRUE(timer.should_trigger_for_step(1));
  timer.update_last_triggered_step(1);
  EXPECT_FALSE(timer.should_trigger_for_step(1));
  EXPECT_FALSE(timer.should_trigger_for_step(2));
  EXPECT_FALSE(timer.should_trigger_for_step(3));
  EXPECT_TRUE(timer.should_trigger_for_step(4));
}

SAME(Y4, "what triggering at steps 1, 5 and 7 returns",
     "nothing the first time, then the seconds between and 4 steps, then 2 steps") {
  testing::ManualClock clock;
  Timer timer{{.every_steps = 1, .clock = clock}};
  EXPECT_FALSE(timer.update_last_triggered_step(1).has_value());
  clock.advance(0.25);
  const auto second = timer.update_last_triggered_step(5);
  clock.advance(0.5);
  const auto third = timer.update_last_triggered_step(7);
  ASSERT_TRUE(second && third);
  EXPECT_EQ(second->seconds, 0.25);
  EXPECT_EQ(second->steps, 4);
  EXPECT_EQ(third->seconds, 0.5);
  EXPECT_EQ(third->steps, 2);
}

SAME(K1, "StopAtStep is given both num_steps and last_step", "refused (ValueError)") {
  EXPECT_THROW((HookLoop{StopAtStep{.last_step = 10, .num_steps = 10}}), LogicError);
  EXPECT_THROW(HookLoop{StopAtStep{}}, LogicError) << "and so is neither";
}

/// A run after which the step is `step`; whether it stops.
template <class H>
bool stops_at(HookLoop<H>& loop, std::int64_t step) {
  loop.machine.step = step;
  loop.look();
  return loop.stopped();
}

SAME(K2, "last_step = 10; the step is set to 5, 9, 10 and, the stop latch cleared, to 11",
     "no stop at 5 and 9; stop at 10, and again at 11") {
  HookLoop loop{StopAtStep{.last_step = 10}};
  loop.create();
  EXPECT_FALSE(stops_at(loop, 5));
  EXPECT_FALSE(stops_at(loop, 9));
  EXPECT_TRUE(stops_at(loop, 10));
  loop.clear_stop();
  EXPECT_TRUE(stops_at(loop, 11));
}

SAME(K3, "num_steps = 10, and the session starts at step 5", "no stop at 13 and 14; stop at 15, and again at 16") {
  HookLoop loop{StopAtStep{.num_steps = 10}, StepMachine{.step = 5}};
  loop.create();
  EXPECT_FALSE(stops_at(loop, 13));
  EXPECT_FALSE(stops_at(loop, 14));
  EXPECT_TRUE(stops_at(loop, 15));
  loop.clear_stop();
  EXPECT_TRUE(stops_at(loop, 16));
}

SAME(K4, "num_steps = 10 from step 5, and the step jumps to 15 at once", "stops") {
  HookLoop loop{StopAtStep{.num_steps = 10}, StepMachine{.step = 5}};
  loop.create();
  EXPECT_TRUE(stops_at(loop, 15));
}

}  // namespace timer_and_stop_scenarios
}  // namespace crochet::conformance

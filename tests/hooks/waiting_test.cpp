// SPDX-License-Identifier: Apache-2.0
// The hooks that wait, limit the time or count steps: SecondOrStepTimer, GlobalStepWaiter, StopAtCheckpointStep,
// TerminateOnTime, MultiStepStopAtStep, Profiler. Names such as X2 are rows of the original's tests.
#include <crochet/base/sleep.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/global_step_waiter.hpp>
#include <crochet/hooks/kit/second_or_step_timer.hpp>
#include <crochet/hooks/multi_step_stop_at_step.hpp>
#include <crochet/hooks/profiler.hpp>
#include <crochet/hooks/stop_at_checkpoint_step.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/terminate_on_time.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waiting_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;
using Steps = std::vector<std::int64_t>;

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

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

/// Counts the sleeps of a hook, and calls a function in each.
struct Naps {
  cr::Sleep sleep() {
    return [this](double seconds) {
      total += seconds;
      ++count;
      if (in_each) in_each();
    };
  }
  double total = 0;
  int count = 0;
  std::function<void()> in_each{};
};

TEST(Sleep, OfTheMachineIsNotShorterThanItWasTold) {
  const cr::Clock clock;
  const double before = clock();
  cr::Sleep{}(0.002);
  EXPECT_GE(clock() - before, 0.002);
}

TEST(Sleep, IsTakenInNapsUnlessSomebodyStops) {
  Naps naps;
  EXPECT_FALSE(cr::sleep_unless([] { return false; }, 1.25, naps.sleep()));
  EXPECT_EQ(naps.count, 3);
  EXPECT_EQ(naps.total, 1.25);
  EXPECT_TRUE(cr::sleep_unless([] { return true; }, 1.25, naps.sleep()));
  EXPECT_EQ(naps.count, 3);
}

TEST(GlobalStepWaiter, X1ATargetOfZeroIsNoWait) {
  Naps naps;
  Script run{cr::GlobalStepWaiter{.wait_until_step = 0, .sleep = naps.sleep()}};
  run.step();
  EXPECT_EQ(naps.count, 0);
}

TEST(GlobalStepWaiter, X2WaitsUntilOthersHaveAdvancedTheStep) {
  RecordingSink sink;
  Naps naps;
  Steps seen{0, 500, 1100};
  std::size_t look = 0;
  Script run{cr::GlobalStepWaiter{
      .wait_until_step = 1000, .step_elsewhere = [&] { return seen.at(look++); }, .sink = sink, .sleep = naps.sleep()}};
  run.step();
  EXPECT_EQ(naps.count, 2);
  EXPECT_EQ(naps.total, 1.0) << "half a second each";
  EXPECT_EQ(sink.lines(), Lines{"waiting for global step 1000; it is 0"});
  run.step();
  EXPECT_EQ(look, seen.size()) << "once started it does not look again";
  EXPECT_EQ(run.fetched(), "");
}

TEST(GlobalStepWaiter, SaysSoWheneverTheStepMovedByMoreThanAThousand) {
  RecordingSink sink;
  Naps naps;
  std::int64_t step = 0;
  Script run{cr::GlobalStepWaiter{.wait_until_step = 5000,
                                  .poll_seconds = 2,
                                  .step_elsewhere = [&] { return step += 600; },
                                  .sink = sink,
                                  .sleep = naps.sleep()}};
  run.step();
  EXPECT_EQ(sink.lines(),
            (Lines{"waiting for global step 5000; it is 600", "waiting for global step 5000; it is 1800",
                   "waiting for global step 5000; it is 3000", "waiting for global step 5000; it is 4200"}));
  EXPECT_EQ(naps.total, 16) << "eight looks too early, 2 s each";
}

TEST(GlobalStepWaiter, WithoutAnyOtherSourceItIsTheSessionsStep) {
  Naps naps;
  Script run{cr::GlobalStepWaiter{.wait_until_step = 3, .sleep = naps.sleep()}};
  run.set_step(3);
  run.step();
  EXPECT_EQ(naps.count, 0);
}

TEST(GlobalStepWaiter, AStopEndsTheWaitAndTheRunDoesNotHappen) {
  Naps naps;
  Script run{
      cr::GlobalStepWaiter{.wait_until_step = 10, .poll_seconds = 100, .sink = [](auto) {}, .sleep = naps.sleep()}};
  naps.in_each = [&] { run.coordinator().request_stop("enough"); };
  EXPECT_THROW(run.step(), cr::StopIteration);
  EXPECT_EQ(naps.count, 1) << "one nap of half a second, not the hundred seconds";
  EXPECT_TRUE(run.log().runs.empty());
  EXPECT_NE(refusal([] { cr::GlobalStepWaiter{.poll_seconds = 0}.begin(); }), "");
}

TEST(GlobalStepWaiter, GivesUpWhenItIsToldTo) {
  Naps naps;
  Script run{
      cr::GlobalStepWaiter{.wait_until_step = 10, .max_seconds = 60, .sink = [](auto) {}, .sleep = naps.sleep()}};
  EXPECT_THROW(run.step(), cr::DeadlineExceededError);
  EXPECT_EQ(naps.total, 60);
}

TEST(GlobalStepWaiter, ASecondSessionWaitsAgain) {
  cr::GlobalStepWaiter hook{.wait_until_step = 1, .sink = [](auto) {}};
  hook.state.started = true;
  hook.begin();
  EXPECT_FALSE(hook.state.started);
}

TEST(StopAtCheckpointStep, SleepsWhileTheCheckpointIsTooOldAndStopsWhenItHasTheStep) {
  Naps naps;
  std::optional<std::int64_t> saved;
  Script run{cr::StopAtCheckpointStep{
      .checkpoint_step = [&] { return saved; }, .last_step = 3, .wait_seconds = 30, .sleep = naps.sleep()}};
  run.step();
  run.step();
  EXPECT_EQ(naps.total, 0) << "the step is not there";
  run.step();
  EXPECT_EQ(naps.total, 30) << "no checkpoint";
  saved = 2;
  run.step();
  EXPECT_EQ(naps.total, 60) << "an old one";
  EXPECT_FALSE(run.should_stop());
  saved = 3;
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(naps.total, 60);
  EXPECT_EQ(run.stop_reason(), "the checkpoint of step 3 was written");
}

TEST(StopAtCheckpointStep, AStopEndsTheSleep) {
  Naps naps;
  Script run{
      cr::StopAtCheckpointStep{.checkpoint_step = [] { return std::nullopt; }, .last_step = 1, .sleep = naps.sleep()}};
  naps.in_each = [&] { run.coordinator().request_stop(); };
  run.step();
  EXPECT_EQ(naps.count, 1);
}

TEST(StopAtCheckpointStep, RefusesHalfASetting) {
  EXPECT_NE(refusal([] { cr::StopAtCheckpointStep{.last_step = 1}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::StopAtCheckpointStep{.checkpoint_step = [] { return 1; }}.begin(); }), "");
  EXPECT_NE(refusal([] {
              cr::StopAtCheckpointStep{.checkpoint_step = [] { return 1; }, .last_step = 1, .wait_seconds = 0}.begin();
            }),
            "");
}

TEST(StopAtCheckpointStep, TheFactoryPicksTheHookByRole) {
  const auto chief = cr::make_stop_at_checkpoint_step<true>([] { return 1; }, 7);
  const auto worker = cr::make_stop_at_checkpoint_step<false>([] { return 1; }, 7, 5);
  static_assert(std::is_same_v<decltype(chief), const cr::StopAtStep>);
  EXPECT_EQ(chief.last_step, 7);
  EXPECT_EQ(worker.last_step, 7);
  EXPECT_EQ(worker.wait_seconds, 5);
}

TEST(TerminateOnTime, StopsAfterTheRunThatEndsBeyondTheBudget) {
  ManualClock clock{50};
  Script run{cr::TerminateOnTime{.seconds = 10, .clock = clock}};
  for (int i = 0; i < 3; ++i) {
    clock.advance(4);
    EXPECT_FALSE(run.should_stop());
    run.step();
  }
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the time budget of 10 s is used up");
  EXPECT_EQ(run.trace(), "begin create b a b a b a end");
  EXPECT_NE(refusal([] { cr::TerminateOnTime{}.begin(); }), "");
}

TEST(TerminateOnTime, CountsEarlierSessionsIfItIsToldTo) {
  ManualClock clock;
  cr::TerminateOnTime first{.seconds = 10, .clock = clock};
  first.begin();
  clock.advance(7);
  cr::testing::StateBox box;
  first.save_state(box);
  for (const bool across : {false, true}) {
    cr::TerminateOnTime second{.seconds = 10, .across_restarts = across, .clock = clock};
    second.begin();
    second.load_state(box);
    EXPECT_EQ(second.used(), across ? 7 : 0);
  }
}

TEST(TerminateOnTime, OfASessionInWhichItIsOffCountsNothing) {
  ManualClock clock{1e6};  // since the machine was started
  using Budget = cr::Switched<cr::TerminateOnTime>;
  const cr::TerminateOnTime hook{.seconds = 10, .across_restarts = true, .clock = clock};
  Budget off{hook, {.on = false}};
  off.begin();
  cr::testing::StateBox box;
  off.save_state(box);
  Budget on{hook};
  on.begin();
  on.load_state(box);
  EXPECT_EQ(on.hook.used(), 0);
}

TEST(TerminateOnTime, CountsWhatARecoveryThrewAway) {
  ManualClock clock;
  cr::TerminateOnTime hook{.seconds = 100, .across_restarts = true, .clock = clock};
  hook.begin();
  clock.advance(10);
  cr::testing::StateBox box;
  hook.save_state(box);
  clock.advance(50);
  hook.load_state(box);  // the session is lost and restored from the checkpoint
  EXPECT_EQ(hook.used(), 60);
}

/// Makes the fed number of steps in a run; at most three if `lazy`.
struct Loop {
  struct Workspace {};
  static constexpr std::array<std::string_view, 0> fetchable{};
  static constexpr std::array<std::string_view, 1> feedable{"steps_per_run"};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = int;
  template <class N>
  using fed_t = std::int32_t;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<X, std::int32_t>;

  template <class D, class F>
  void run(Workspace&, const F& steps) {
    made.push_back(steps.value);
    step += lazy && steps.value > 3 ? 3 : steps.value;
  }
  [[nodiscard]] std::int64_t global_step() const { return step; }

  std::int64_t step = 0;
  bool lazy = false;
  Steps made{};
};

TEST(MultiStepStopAtStep, TheLastRunIsShorter) {
  Loop loop;
  const cr::StopReason why =
      cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.num_steps = 10, .steps_per_run = 4}});
  EXPECT_EQ(loop.made, (Steps{4, 4, 2}));
  EXPECT_EQ(loop.step, 10);
  EXPECT_EQ(why.reason, "step 10 was reached");

  cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.last_step = 13, .steps_per_run = 4}});
  EXPECT_EQ(loop.made, (Steps{4, 4, 2, 3})) << "from step 10, where the executor is";
}

TEST(MultiStepStopAtStep, NoticesAnExecutorThatMakesOtherSteps) {
  Loop loop{.lazy = true};
  EXPECT_NE(refusal([&] {
              cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.num_steps = 10, .steps_per_run = 4}});
            }).find("should have ended at step 4 and ended at 3"),
            std::string::npos);
  EXPECT_NE(refusal([] { cr::MultiStepStopAtStep<>{.num_steps = 1, .steps_per_run = 0}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::MultiStepStopAtStep<>{}.begin(); }), "");
}

/// Records the runs that it traced.
struct NotingTracer {
  void start() const { *log += "("; }
  void stop(std::int64_t step) const { *log += std::to_string(step) + ")"; }
  void abandon() const { *log += "x)"; }
  std::shared_ptr<std::string> log = std::make_shared<std::string>();
};

TEST(Profiler, X8WantsExactlyOneInterval) {
  EXPECT_NE(refusal([] { cr::Profiler{NotingTracer{}, {}}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::Profiler{NotingTracer{}, {.every_steps = 1, .every_seconds = 1}}.begin(); }), "");
}

TEST(Profiler, X9X10RecordsTheFirstRunAfterEachInterval) {
  NotingTracer tracer;
  ManualClock clock;
  Script run{cr::Profiler{tracer, {.every_seconds = 2, .clock = clock}}};
  for (const double time : {0.0, 2.5, 2.6, 4.4, 4.5, 4.6}) {
    clock.set(time);
    run.step();
  }
  EXPECT_EQ(*tracer.log, "(2)(5)") << "at 2.5 and 4.5; the first run only starts the interval";
}

TEST(Profiler, X9X11EveryTwoSteps) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 2}}};
  for (int i = 0; i < 5; ++i) run.step();
  EXPECT_EQ(*tracer.log, "(2)(4)");
  EXPECT_EQ(run.fetched(), "");
}

TEST(Profiler, X12EveryStepButTheFirst) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 1}}};
  for (int i = 0; i < 3; ++i) run.step();
  EXPECT_EQ(*tracer.log, "(2)(3)");
}

TEST(Profiler, ARecordOfARunThatThrewIsGivenUp) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 2}}};
  run.step();
  run.log().throw_in_run(1, cr::LogicError("the run"));
  EXPECT_THROW(run.step(), cr::LogicError);
  EXPECT_EQ(*tracer.log, "(");
  run.step();
  EXPECT_EQ(*tracer.log, "(x)(2)") << "and the step is recorded when it is made";
  run.log().throw_in_run(4, cr::LogicError("the run"));
  run.step();
  EXPECT_THROW(run.step(), cr::LogicError);
  run.fail(cr::LogicError("the run"));
  EXPECT_EQ(*tracer.log, "(x)(2)(x)");
}

}  // namespace waiting_test

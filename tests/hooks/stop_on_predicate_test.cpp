// SPDX-License-Identifier: Apache-2.0
// make_early_stopping: when it calls its function, and how another session follows.
#include <crochet/crochet.hpp>
#include <crochet/hooks/kit/stop_signal.hpp>
#include <crochet/hooks/stop_on_predicate.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "../refusal.hpp"

namespace stop_on_predicate_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::Script;

using crochet::test::refusal;

TEST(MakeEarlyStopping, AsksInTheFirstRunAndThenAtTheInterval) {
  ManualClock clock;
  int requested = 0;
  Script run{cr::make_early_stopping([&] { return ++requested == 3; }, {.clock = clock})};
  for (const double time : {0.0, 59.0, 60.0, 119.0}) {
    clock.set(time);
    run.step();
  }
  EXPECT_EQ(requested, 2) << "every 60 s if nothing is said: at 0 and 60";
  clock.set(120);
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the function of early stopping said so");
  EXPECT_EQ(run.fetched(), "");
}

TEST(MakeEarlyStopping, StepsNeedNoSecondsTakenBack) {
  int requested = 0;
  Script run{cr::make_early_stopping([&] { return ++requested > 100; }, {.run_every_steps = 3})};
  for (int i = 0; i < 7; ++i) run.step();
  EXPECT_EQ(requested, 2) << "steps 3 and 6";
  const auto never = [] { return false; };
  EXPECT_NE(refusal([&] { cr::make_early_stopping(never, {.run_every_seconds = 60, .run_every_steps = 1}).begin(); }),
            "");
  EXPECT_NE(refusal([&] { cr::make_early_stopping(never, {.run_every_steps = 0}).begin(); }), "");
}

struct AtStep {
  [[nodiscard]] std::int64_t step() const { return at; }
  std::int64_t at;
};
TEST(MakeEarlyStopping, AStoppedTrainingMakesNoFurtherStepWhenItIsResumed) {
  bool enough = true;
  const auto hook = [&] { return cr::make_early_stopping([&] { return enough; }, {.run_every_steps = 3}); };
  Script run{hook()};
  for (int i = 0; i < 3; ++i) run.step();
  EXPECT_TRUE(run.should_stop());
  cr::testing::StateBox box;
  run.hook().save_state(box);
  const auto resumed_stops = [&](std::int64_t step) {
    auto resumed = hook();
    resumed.begin();
    resumed.load_state(box);
    cr::Coordinator coordinator;
    const AtStep session{step};
    resumed.after_create_session(session, coordinator);
    return coordinator.should_stop();
  };
  EXPECT_TRUE(resumed_stops(3));
  EXPECT_FALSE(resumed_stops(2)) << "from an older checkpoint";
  enough = false;
  EXPECT_FALSE(resumed_stops(3)) << "the function returns false";
}

TEST(MakeEarlyStopping, AnotherSessionFollowsByTheSignal) {
  const cr::StopSignal signal;
  bool enough = false;
  Script chief{cr::make_early_stopping([&] { return enough; }, {.run_every_steps = 1, .signal = signal})};
  Script worker{cr::CheckForStopping{.signal = signal}};
  chief.step();
  worker.step();
  EXPECT_FALSE(worker.should_stop());
  enough = true;
  chief.step();
  EXPECT_TRUE(chief.should_stop());
  EXPECT_FALSE(worker.should_stop());
  worker.step();
  EXPECT_TRUE(worker.should_stop()) << "in its next run";
  EXPECT_EQ(worker.stop_reason(), "the function of early stopping said so");
}

struct Flag {
  const bool* stop;
  bool operator()() const { return *stop; }
};

TEST(MakeEarlyStopping, TheFunctionIsNotEmpty) {
  const bool stop = true;
  Script flagged{cr::make_early_stopping(Flag{&stop}, {.run_every_steps = 1})};
  flagged.step();
  EXPECT_TRUE(flagged.should_stop());
  EXPECT_THROW(Script{cr::make_early_stopping(std::function<bool()>{})}, cr::LogicError);
}

TEST(MakeEarlyStopping, TwoHooksAreAnOr) {
  Script run{cr::HookChain{cr::make_early_stopping([] { return false; }, {.run_every_steps = 1}),
                           cr::make_early_stopping([] { return true; }, {.run_every_steps = 1})}};
  run.step();
  EXPECT_TRUE(run.should_stop());
}

}  // namespace stop_on_predicate_test

// SPDX-License-Identifier: Apache-2.0
// TerminateOnTime: stops when the time budget is used up, also one over several sessions.
#include <crochet/crochet.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/terminate_on_time.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <string>

#include "../refusal.hpp"

namespace terminate_on_time_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::Script;

using crochet::test::refusal;

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

TEST(TerminateOnTime, ATrainingWhoseTimeIsUsedUpMakesNoFurtherStep) {
  ManualClock clock;
  cr::TerminateOnTime hook{.seconds = 10, .across_restarts = true, .clock = clock};
  hook.begin();
  clock.advance(11);
  cr::testing::StateBox box;
  hook.save_state(box);
  for (const bool across : {true, false}) {
    cr::TerminateOnTime resumed{.seconds = 10, .across_restarts = across, .clock = clock};
    resumed.begin();
    resumed.load_state(box);
    cr::Coordinator coordinator;
    int session = 0;
    resumed.after_create_session(session, coordinator);
    EXPECT_EQ(coordinator.should_stop(), across);
    EXPECT_EQ(coordinator.reason(), across ? "the time budget of 10 s is used up" : "");
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

}  // namespace terminate_on_time_test

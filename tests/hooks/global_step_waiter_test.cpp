// SPDX-License-Identifier: Apache-2.0
// GlobalStepWaiter: how long it waits and what ends the wait. Names such as X2 are rows of the original's tests.
#include <crochet/crochet.hpp>
#include <crochet/hooks/global_step_waiter.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../base/naps.hpp"
#include "../refusal.hpp"

namespace global_step_waiter_test {

namespace cr = crochet;
using cr::test::Naps;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;
using Steps = std::vector<std::int64_t>;

using crochet::test::refusal;

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

}  // namespace global_step_waiter_test

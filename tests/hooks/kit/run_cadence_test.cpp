// SPDX-License-Identifier: Apache-2.0
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace run_cadence_test {

namespace cr = crochet;

constexpr auto no_clock = [] { return 0.0; };

TEST(RunCadence, AfterARecoveryToItsBeginningTheWindowOfTheLostSessionIsGone) {
  cr::RunCadence timer{cr::Cadence::every_steps(10), false};
  timer.set_stride(8);
  ASSERT_TRUE(timer.due_next(25, no_clock));
  timer.ran(33);
  timer.triggered(33, 0);
  timer.seek(0, 10);  // saved before the first run
  timer.set_stride(8);
  EXPECT_TRUE(timer.due_next(25, no_clock)) << "the run passes 30 again";
}

/// UndefinedBehaviorSanitizer reports a sum that overflows.
TEST(RunCadence, AStateThatNoSessionHasOverflowsNothing) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t extreme : {least, std::int64_t{-7}, most}) {
    cr::testing::StateBox box;
    box.put("runs", extreme);
    for (const bool counts_runs : {false, true}) {
      cr::RunCadence timer{cr::Cadence::every_steps(10), counts_runs};
      timer.load_state(box, 0);
      EXPECT_GE(timer.runs(), 0);
      (void)timer.due_next(25, no_clock);
      timer.ran(26);
      timer.seek(extreme, 10);
      timer.set_stride(extreme);
      (void)timer.due_next(25, no_clock);
      timer.ran(26);
      EXPECT_GE(timer.position(10), 0);
    }
  }
}

}  // namespace run_cadence_test

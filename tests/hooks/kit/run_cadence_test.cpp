// SPDX-License-Identifier: Apache-2.0
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>

#include <gtest/gtest.h>

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

}  // namespace run_cadence_test

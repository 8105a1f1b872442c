// SPDX-License-Identifier: Apache-2.0
// Sleep: how long it takes, and that a stop ends a long one.
#include <crochet/base/clock.hpp>
#include <crochet/base/sleep.hpp>

#include <gtest/gtest.h>

#include "naps.hpp"

namespace sleep_test {

namespace cr = crochet;
using cr::test::Naps;

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

}  // namespace sleep_test

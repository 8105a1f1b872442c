// SPDX-License-Identifier: Apache-2.0
// Sleep: how long it takes, and that a stop ends a long one.
#include <crochet/base/clock.hpp>
#include <crochet/base/sleep.hpp>

#include <gtest/gtest.h>
#include <sys/time.h>

#include <csignal>

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

TEST(Sleep, IsNotShortenedBySignals) {
  struct sigaction handler {};
  struct sigaction before {};
  handler.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGALRM, &handler, &before), 0);
  const itimerval each_millisecond{{0, 1000}, {0, 1000}}, none{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &each_millisecond, nullptr), 0);
  const cr::Clock clock;
  const double start = clock();
  cr::Sleep{}(0.05);
  EXPECT_GE(clock() - start, 0.05);
  ::setitimer(ITIMER_REAL, &none, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
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

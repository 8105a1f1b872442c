// SPDX-License-Identifier: Apache-2.0
// Spin: an active wait is limited by the clock, however long a pause takes.
#include <crochet/kernels/spin.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace crochet::kernel {
namespace spin_test {

std::int64_t now = 0, step = 0;
std::int64_t clock() { return now += step; }

TEST(Spin, EndsAfterItsTime) {
  for (const std::int64_t each : {100, 2'000, 60'000}) {  // between two looks at the clock
    now = 1'000'000;
    step = each;
    Spin<&clock> spin;
    const std::int64_t start = now;
    std::int64_t pauses = 1;
    for (; spin.pause(); ++pauses) ASSERT_LT(pauses, 1'000'000);
    EXPECT_GE(now - start, Spin<&clock>::limit);
    EXPECT_LE(now - start, Spin<&clock>::limit + 2 * each);
  }
}

TEST(Spin, AShortWaitDoesNotReadTheClock) {
  now = step = 1;
  Spin<&clock> spin;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(spin.pause());
  EXPECT_EQ(now, 1);
}

TEST(MonotonicNs, DoesNotGoBack) {
  const std::int64_t before = monotonic_ns();
  EXPECT_GT(before, 0);
  EXPECT_GE(monotonic_ns(), before);
}

}  // namespace spin_test
}  // namespace crochet::kernel

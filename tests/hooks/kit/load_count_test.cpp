// SPDX-License-Identifier: Apache-2.0
#include <crochet/hooks/kit/load_count.hpp>
#include <crochet/hooks/plateau_rate.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace load_count_test {

namespace cr = crochet;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(LoadCount, IsTheNearestNumberThatCanBeCountedOn) {
  for (const auto& [saved, loaded] : {std::pair{least, std::int64_t{0}},
                                      {std::int64_t{-1}, std::int64_t{0}},
                                      {std::int64_t{0}, std::int64_t{0}},
                                      {std::int64_t{7}, std::int64_t{7}},
                                      {most, std::int64_t{1} << 62}}) {
    cr::testing::StateBox box;
    box.put("n", saved);
    std::int64_t count = 3;
    EXPECT_TRUE(cr::detail::load_count(box, "n", count));
    EXPECT_EQ(count, loaded);
  }
}

TEST(LoadCount, ThatIsMissingIsAsItWas) {
  const cr::testing::StateBox box;
  std::int64_t count = -3;
  EXPECT_FALSE(cr::detail::load_count(box, "n", count));
  EXPECT_EQ(count, -3);
}

/// UndefinedBehaviorSanitizer reports a count that overflows.
TEST(LoadCount, OfAPlateauIsCountedOn) {
  for (const std::int64_t extreme : {least, most}) {
    cr::PlateauRate rate{.aim = cr::Aim::lowest};
    rate.start("LoadCount");
    (void)rate.reduced(1, 1);
    cr::testing::StateBox box;
    box.put("rate", 0.5);
    box.put("best", 1.0);
    box.put("best_step", std::int64_t{1});
    box.put("since", extreme);
    box.put("cooling", std::int64_t{0});
    rate.load_state(box);
    (void)rate.reduced(2, 2);
    EXPECT_GE(rate.seen.since, 0);
  }
}

}  // namespace load_count_test

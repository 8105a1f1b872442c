// SPDX-License-Identifier: Apache-2.0
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace crochet::testing {
namespace state_box_test {

TEST(StateBox, ReturnsWhatWasPut) {
  StateBox box;
  box.put("count", 3);
  box.put("losses", std::vector<float>{1, 2});
  int count = 0;
  std::vector<float> losses;
  EXPECT_TRUE(box.get("count", count));
  EXPECT_TRUE(box.get("losses", losses));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(losses, (std::vector<float>{1, 2}));
  EXPECT_EQ(box.size(), 2u);
}

TEST(StateBox, HasTheTypesOfACheckpoint) {
  StateBox box;
  std::vector<float> history{1, 2};
  box.put("history", std::span<const float>(history));
  history[0] = 9;
  box.put("kind", "plain");
  enum class Mode : unsigned char { slow, fast };
  box.put("mode", Mode::fast);
  box.put("modes", std::array{Mode::fast, Mode::slow});

  std::array<float, 2> pair{};
  EXPECT_TRUE(box.get("history", pair));
  EXPECT_EQ(pair, (std::array<float, 2>{1, 2}));
  std::array<float, 3> longer{};
  EXPECT_FALSE(box.get("history", longer));
  std::string kind;
  EXPECT_TRUE(box.get("kind", kind));
  EXPECT_EQ(kind, "plain");
  unsigned char mode = 0;
  EXPECT_TRUE(box.get("mode", mode));
  EXPECT_EQ(mode, 1);
  std::vector<Mode> modes;
  EXPECT_TRUE(box.get("modes", modes));
  EXPECT_EQ(modes, (std::vector{Mode::fast, Mode::slow}));
}

TEST(StateBox, LeavesTheValueOfAMissingKey) {
  const StateBox box;
  int count = 7;
  EXPECT_FALSE(box.get("count", count));
  EXPECT_EQ(count, 7);
}

TEST(StateBox, RefusesAKeyPutTwiceOrReadAsAnotherType) {
  StateBox box;
  box.put("count", 3);
  EXPECT_THROW(box.put("count", 4), LogicError);
  double count = 0;
  EXPECT_THROW((void)box.get("count", count), LogicError);
}

}  // namespace state_box_test
}  // namespace crochet::testing

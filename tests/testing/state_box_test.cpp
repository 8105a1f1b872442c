// SPDX-License-Identifier: Apache-2.0
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

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

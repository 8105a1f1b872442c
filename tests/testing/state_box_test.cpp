// SPDX-License-Identifier: Apache-2.0
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
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

TEST(StateBox, KeysOfASectionAreApartFromOthers) {
  StateBox box;
  box.put("count", 1);
  box.section("inner", [&] { box.put("count", 2); });
  EXPECT_EQ(box.keys(), "count int, inner/count int");
  int outer = 0, inner = 0;
  EXPECT_TRUE(box.get("count", outer));
  box.section("inner", [&] { EXPECT_TRUE(box.get("count", inner)); });
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 2);
}

TEST(StateBox, AnExceptionLeavesTheSection) {
  StateBox box;
  box.put("count", 1);
  double count = 0;
  EXPECT_THROW(box.section("inner", [&] { throw LogicError("x"); }), LogicError);
  EXPECT_THROW((void)box.get("count", count), LogicError) << "the key outside, as another type";
}

TEST(StateBox, NamesAKeyThatWasNotRead) {
  StateBox box;
  box.put("a", 1);
  box.put("b", 2);
  EXPECT_EQ(box.unread(), "a");
  int value = 0;
  box.get("a", value);
  EXPECT_EQ(box.unread(), "b");
  box.get("b", value);
  EXPECT_EQ(box.unread(), "");
}

TEST(StateBox, DiffersByValuesTypesAndMissingKeysAndNotByNaN) {
  const auto with = [](auto value) {
    StateBox box;
    box.put("values", value);
    return box;
  };
  const double nan = std::nan("");
  EXPECT_EQ(with(nan).difference_from(with(nan)), "");
  EXPECT_EQ(with(std::vector{1.0, nan}).difference_from(with(std::vector{1.0, nan})), "");
  EXPECT_EQ(with(nan).difference_from(with(1.0)), "values");
  EXPECT_EQ(with(1.0).difference_from(with(nan)), "values");
  EXPECT_EQ(with(std::vector{1.0, 2.0}).difference_from(with(std::vector{1.0, 3.0})), "values");
  EXPECT_EQ(with(std::vector{1.0}).difference_from(with(std::vector{1.0, 3.0})), "values");
  EXPECT_EQ(with(1.0).difference_from(with(1)), "values");
  EXPECT_EQ(with(1).difference_from(StateBox()), "values");
  EXPECT_EQ(StateBox().difference_from(with(1)), "") << "only its own keys";
}

}  // namespace state_box_test
}  // namespace crochet::testing

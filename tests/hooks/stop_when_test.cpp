// SPDX-License-Identifier: Apache-2.0
// StopWhen: stops when a value is below or above a bound.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace stop_when_test {

namespace cr = crochet;
using cr::value;
using cr::testing::Script;

template <class Hook>
std::string refusal(Hook hook) {
  try {
    hook.begin();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(StopWhen, ABoundIsCrossed) {
  Script run{cr::StopWhen<"residual">{.below = 1e-8}};
  run.step(value<"residual">(1e-8));
  run.step(value<"residual">(std::nan("")));
  EXPECT_FALSE(run.should_stop()) << "neither equals nor NaN";
  run.step(value<"residual">(5e-9));
  EXPECT_EQ(run.stop_reason(), "residual = 5e-09 is below 1e-08");
}

TEST(StopWhen, AboveIsTheOtherBound) {
  Script run{cr::StopWhen<"loss">{.below = 0, .above = 100}};
  run.step(value<"loss">(100.0f));
  EXPECT_FALSE(run.should_stop());
  run.step(value<"loss">(101.0f));
  EXPECT_EQ(run.stop_reason(), "loss = 101.0 is above 100.0");
}

TEST(StopWhen, NeedsABound) {
  EXPECT_EQ(refusal(cr::StopWhen<"loss">{}), "crochet: StopWhen<\"loss\">: set below, above or both");
}

}  // namespace stop_when_test

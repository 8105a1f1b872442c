// SPDX-License-Identifier: Apache-2.0
// NanTensor: an error, or a stop, when a value is NaN or infinite.
#include <crochet/crochet.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nan_tensor_test {

namespace cr = crochet;
using cr::value;
using cr::testing::Script;
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
std::string nan_error(const cr::NanTensor<"loss">& hook, T loss) {
  Script run{hook};
  try {
    run.step(value<"loss">(loss));
  } catch (const cr::NanLossError& error) {
    return error.what();
  }
  return "";
}

TEST(NanTensor, ThrowsAndSaysWhichOfTheTwoItWas) {
  EXPECT_EQ(nan_error({}, 1.0f), "");
  EXPECT_EQ(nan_error({}, nan_value), "crochet: loss is NaN at step 1");
  EXPECT_EQ(nan_error({}, infinity), "crochet: loss is infinite at step 1");
  EXPECT_EQ(nan_error({}, -HUGE_VAL), "crochet: loss is negative infinite at step 1");
  EXPECT_EQ(nan_error({}, 7), "") << "an integer is a number";
}

TEST(NanTensor, InfinityMayBeAllowed) {
  EXPECT_EQ(nan_error({.allow_infinity = true}, infinity), "");
  EXPECT_NE(nan_error({.allow_infinity = true}, nan_value), "");
}

TEST(NanTensor, LooksAtEveryElement) {
  const std::vector<float> losses{1, nan_value, 2, infinity, nan_value};
  EXPECT_EQ(nan_error({}, cr::TensorView<float, 1>{losses.data(), {5}}),
            "crochet: loss has 2 NaN and 1 infinite of 5 elements, the first at 1 at step 1");
  EXPECT_EQ(nan_error({.allow_infinity = true}, cr::TensorView<float, 1>{losses.data() + 2, {2}}), "");
}

TEST(NanTensor, MayAskToStopInstead) {
  cr::testing::RecordingSink sink;
  Script run{cr::NanTensor<"loss">{.fail_on_nan = false, .sink = sink}};
  run.step(value<"loss">(1.0f));
  run.step(value<"loss">(nan_value));
  EXPECT_EQ(run.stop_reason(), "loss is NaN at step 2");
  EXPECT_EQ(sink.text(), "crochet: loss is NaN at step 2; stopping\n");
  EXPECT_EQ(run.trace(), "begin create b a b a end");
}

TEST(NanTensor, WatchesSeveralValues) {
  Script run{cr::NanTensor<"loss", "norm">{}};
  run.step(value<"loss">(1.0f), value<"norm">(1.0));
  EXPECT_EQ(run.fetched(), "loss norm");
  EXPECT_THROW(run.step(value<"loss">(1.0f), value<"norm">(std::nan(""))), cr::NanLossError);
}

}  // namespace nan_tensor_test

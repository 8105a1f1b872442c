// SPDX-License-Identifier: Apache-2.0
// FinalOps: fetches values at the end and keeps them.
#include <crochet/hooks/final_ops.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../refusal.hpp"

namespace final_ops_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::feed;
using cr::placeholder;
using cr::value;
using cr::testing::Script;

TEST(FinalOps, AScalarIsThereAfterTheEnd) {
  Script run{cr::FinalOps<"accuracy">{}, value<"accuracy">(0.9f)};
  run.step();
  EXPECT_EQ(run.fetched(), "") << "nothing is fetched before the end";
  EXPECT_TRUE(run.hook()["accuracy"_n].empty());
  EXPECT_THROW((void)run.hook()["accuracy"_n].as<float>(), cr::LogicError);
  run.end();
  EXPECT_EQ(run.fetched(), "accuracy");
  EXPECT_EQ(run.hook()["accuracy"_n].as<float>(), 0.9f);
  EXPECT_EQ(run.hook()["accuracy"_n].text(), "0.9");
}

TEST(FinalOps, ATensorIsCopied) {
  std::vector<double> grid{1, 2, 3, 4, 5, 6};
  Script run{cr::FinalOps<"grid", "steps">{}, value<"grid">(cr::TensorView<double, 2>{grid.data(), {2, 3}}),
             value<"steps">(std::int64_t{7})};
  run.end();
  grid.assign(6, 0);
  const auto& kept = run.hook()["grid"_n];
  EXPECT_EQ(std::vector<double>(kept.elements<double>().begin(), kept.elements<double>().end()),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(std::vector<std::int64_t>(kept.shape().begin(), kept.shape().end()), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(run.hook()["steps"_n].as<std::int64_t>(), 7);
}

TEST(FinalOps, AnotherTypeIsRefusedByName) {
  Script run{cr::FinalOps<"accuracy">{}, value<"accuracy">(0.9f)};
  run.end();
  try {
    (void)run.hook()["accuracy"_n].as<double>();
    FAIL() << "a float is no double";
  } catch (const cr::LogicError& error) {
    EXPECT_STREQ(error.what(), "crochet: a kept value has elements of type float and was asked for as double");
  }
}

using crochet::test::refusal;

TEST(KeptValue, ATensorIsNoScalar) {
  cr::KeptValue kept;
  EXPECT_EQ(refusal([&] { (void)kept.as<float>(); }),
            "crochet: there is no value yet; it is there after the end of the session");
  const std::vector<float> one{0.5F};
  kept.keep(one);
  EXPECT_EQ(refusal([&] { (void)kept.as<float>(); }),
            "crochet: a kept value is a tensor and was asked for as a scalar");
  EXPECT_EQ(kept.elements<float>().size(), 1U);
}

TEST(KeptValue, IsReplacedAsAWhole) {
  cr::KeptValue kept;
  kept.keep(std::vector<float>{1, 2, 3});
  EXPECT_EQ(std::vector<std::int64_t>(kept.shape().begin(), kept.shape().end()), std::vector<std::int64_t>{3});
  EXPECT_EQ(kept.text(), "[1.0, 2.0, 3.0]");
  kept.keep(0.25);
  EXPECT_TRUE(kept.shape().empty());
  EXPECT_EQ(kept.text(), "0.25");
  EXPECT_EQ(kept.as<double>(), 0.25);
}

TEST(FinalOps, MayBeFed) {
  Script run{cr::final_ops<"accuracy">(feed<"rate">(0.25f)), value<"accuracy">(0.9f), placeholder<float, "rate">};
  run.step();
  EXPECT_EQ(run.log().runs.back().fed, "");
  run.end();
  EXPECT_EQ(run.log().fed_scalars["rate"], 0.25);
  EXPECT_EQ(run.hook()["accuracy"_n].as<float>(), 0.9f);
}

TEST(FinalOps, AnEndOfDataIsExplainedAndLeaves) {
  cr::testing::RecordingSink sink;
  Script run{cr::FinalOps<"accuracy">{.sink = sink}, value<"accuracy">(0.9f)};
  run.step();
  run.log().throw_in_run(1, cr::OutOfRangeError());
  EXPECT_THROW(run.end(), cr::OutOfRangeError);
  ASSERT_EQ(sink.lines().size(), 1U);
  EXPECT_NE(sink.lines()[0].find("need input"), std::string::npos);
  EXPECT_TRUE(run.hook()["accuracy"_n].empty());
}
TEST(FinalOps, AStopIterationIsExplainedToo) {
  cr::testing::RecordingSink sink;
  Script run{cr::FinalOps<"accuracy">{.sink = sink}, value<"accuracy">(0.9f)};
  run.log().throw_in_run(0, cr::StopIteration());
  EXPECT_THROW(run.end(), cr::StopIteration);
  EXPECT_EQ(sink.lines().size(), 1U);
}

}  // namespace final_ops_test

// SPDX-License-Identifier: Apache-2.0
#include <crochet/base/diagnostics.hpp>
#include <crochet/data/standardize.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../io/idx_files.hpp"

namespace standardize_test {

using namespace crochet;

TEST(Standardize, ColumnsGetMeanZeroAndDeviationOne) {
  const auto training = data_set(field<"x">(std::vector<float>{1, 10, 7, 2, 30, 7, 6, 80, 7}, {3}));
  const auto scale = fit_standardize<"x">(training);
  EXPECT_EQ(scale.mean, (std::vector<double>{3, 40, 7}));
  EXPECT_NEAR(scale.deviation[0], std::sqrt(14.0 / 3), 1e-12);
  EXPECT_EQ(scale.deviation[2], 1) << "of a constant column, which becomes zero";

  const auto scaled = scale.apply(training);
  const auto view = scaled.view<"x">();
  for (std::int64_t column = 0; column < 3; ++column) {
    double sum = 0, squares = 0;
    for (std::int64_t row = 0; row < 3; ++row) {
      sum += view(row, column);
      squares += view(row, column) * view(row, column);
    }
    EXPECT_NEAR(sum, 0, 1e-6);
    EXPECT_NEAR(squares, column == 2 ? 0 : 3, 1e-5);
  }
}

TEST(Standardize, EqualValuesBecomeZeroWhereverTheirMeanIsRounded) {
  for (const double value : {0.1, 1.0 / 3, -7e10, 5e-324, 1e300}) {
    for (const std::size_t rows : {3U, 7U, 10U, 1000U}) {
      const auto training = data_set(field<"x">(std::vector<double>(rows, value)));
      const auto scale = fit_standardize<"x">(training);
      EXPECT_EQ(scale.mean[0], value) << rows;
      EXPECT_EQ(scale.deviation[0], 1) << rows;
      const auto scaled = scale.apply(training);
      EXPECT_EQ(scaled.view<"x">()(0), 0) << rows;
    }
  }
}

TEST(Standardize, LargeIntegersKeepTheirDifferences) {
  const std::int64_t first = 1'700'000'000;
  const auto times = data_set(field<"t">(std::vector<std::int64_t>{first, first + 10, first + 20, first + 30}));
  const auto scaled = fit_standardize<"t">(times).apply(times);
  const float expected[] = {-1.3416408F, -0.4472136F, 0.4472136F, 1.3416408F};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(scaled.view<"t">()(i), expected[i], 1e-5) << i;
  const auto equal = data_set(field<"t">(std::vector<std::int32_t>(3, 16'777'217)));
  const auto zero = fit_standardize<"t">(equal).apply(equal);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(zero.view<"t">()(i), 0);
}

TEST(Standardize, RowsMayBeAnArray) {
  const auto scale = fit_standardize<"x">(data_set(field<"x">(std::vector<double>{-1, 1})));
  std::array<float, 2> house{3, 5};
  scale.apply(std::span(house));
  EXPECT_EQ(house, (std::array<float, 2>{3, 5}));
  scale.undo(std::span(house));
  const auto fixed = data_set(field<"x">(std::span(house)), field<"rows">(std::span(house), {1}));
  EXPECT_EQ(fixed.view<"x">()(1), 5);
  EXPECT_EQ(fixed.view<"rows">()(1, 0), 5);
}

TEST(Standardize, OtherDataGetTheNumbersOfTheTrainingSet) {
  const auto scale = fit_standardize<"x">(data_set(field<"x">(std::vector<double>{-1, 1})));
  const auto other = scale.apply(data_set(field<"x">(std::vector<double>{5, 6, 7})));
  static_assert(std::is_same_v<decltype(other.view<"x">()), TensorView<double, 1>>);
  EXPECT_EQ(other.view<"x">()(2), 7);
  const auto bytes = scale.apply(data_set(field<"x">(std::vector<std::uint8_t>{5})));
  static_assert(std::is_same_v<decltype(bytes.view<"x">()), TensorView<float, 1>>);
}

TEST(Standardize, RowsOfAPredictionAndBack) {
  const Standardize<"x"> scale{{1, 10}, {2, 5}};
  std::vector<float> rows{3, 20, 1, 5};
  scale.apply(std::span(rows));
  EXPECT_EQ(rows, (std::vector<float>{1, 2, 0, -1}));
  scale.undo(std::span(rows));
  EXPECT_EQ(rows, (std::vector<float>{3, 20, 1, 5}));
}

TEST(Standardize, RefusesWhatItCannotScale) {
  const Standardize<"x"> scale{{1, 10}, {2, 5}};
  std::vector<float> rows{1, 2, 3};
  EXPECT_THROW(scale.apply(std::span(rows)), LogicError);
  EXPECT_THROW(scale.undo(std::span(rows)), LogicError);
  EXPECT_THROW(Standardize<"x">{}.apply(std::span(rows)), LogicError);
  EXPECT_THROW((void)scale.apply(data_set(field<"x">(rows))), LogicError);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  test::expect_says(test::message_of<DataError>([] {
                      (void)fit_standardize<"x">(data_set(field<"x">(std::vector<float>{1, 2, 3, nan}, {2})));
                    }),
                    {"field x", "row 1, column 1", "not finite"});
  for (const double far : {1e200, 1.7e308}) {
    test::expect_says(test::message_of<DataError>([&] {
                        (void)fit_standardize<"x">(data_set(field<"x">(std::vector<double>{-far, 0, far})));
                      }),
                      {"field x", "column 0", "too far apart"});
  }
}

std::string line_said;
TEST(Standardize, OfOtherNumbersThanTheCheckpointsIsReported) {
  crochet::testing::StateBox box;
  Standardize<"x">{{1, 10}, {2, 5}}.save_state(box);
  const auto line = [&](Standardize<"x"> scale) {
    line_said.clear();
    const auto before = crochet::set_diagnostic_sink([](std::string_view said) { line_said += said; });
    scale.load_state(box);
    crochet::set_diagnostic_sink(before);
    EXPECT_EQ(scale.mean, (std::vector<double>{1, 10})) << "loaded in each case";
    return line_said;
  };
  EXPECT_EQ(line({}), "");
  EXPECT_EQ(line({{1, 10}, {2, 5}}), "");
  EXPECT_EQ(line({{1 + 1e-12, 10}, {2, 5 + 1e-12}}), "") << "rounded otherwise";
  EXPECT_EQ(
      line({{1, 10.5}, {2, 5}}),
      "crochet: Standardize<\"x\"> was fitted to other data than the checkpoint's (column 1: mean 10.5, there 10); "
      "the session has the numbers of the checkpoint, and data standardized before have the others");
  EXPECT_NE(line({{1, 10}, {2.5, 5}}).find("(column 0: deviation 2.5, there 2)"), std::string::npos);
  EXPECT_NE(line({{1}, {2}}).find("(1 columns, there 2)"), std::string::npos);
}

TEST(Standardize, ItsNumbersAreAHooksState) {
  const Standardize<"x"> scale{{1, 10}, {2, 5}};
  crochet::testing::StateBox box;
  scale.save_state(box);
  Standardize<"x"> loaded;
  loaded.load_state(box);
  EXPECT_EQ(loaded.mean, scale.mean);
  EXPECT_EQ(loaded.deviation, scale.deviation);

  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [mean, deviation] : {std::pair(std::vector<double>{1}, std::vector<double>{1, 2}),
                                        {{1, 2}, {1, 0}},
                                        {{1, 2}, {1, -1}},
                                        {{1, 2}, {nan, 1}},
                                        {{nan, 2}, {1, 1}}}) {
    crochet::testing::StateBox odd;
    odd.put("mean", mean);
    odd.put("deviation", deviation);
    loaded.load_state(odd);
    EXPECT_EQ(loaded.mean, scale.mean) << "unchanged";
    EXPECT_EQ(loaded.deviation, scale.deviation) << "unchanged";
  }
}

}  // namespace standardize_test

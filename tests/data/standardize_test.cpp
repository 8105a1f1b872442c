// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/standardize.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
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
}

TEST(Standardize, ItsNumbersAreAHooksState) {
  const Standardize<"x"> scale{{1, 10}, {2, 5}};
  crochet::testing::StateBox box;
  scale.save_state(box);
  Standardize<"x"> loaded;
  loaded.load_state(box);
  EXPECT_EQ(loaded.mean, scale.mean);
  EXPECT_EQ(loaded.deviation, scale.deviation);

  crochet::testing::StateBox odd;
  odd.put("mean", std::vector<double>{1});
  odd.put("deviation", std::vector<double>{1, 2});
  loaded.load_state(odd);
  EXPECT_EQ(loaded.mean, scale.mean) << "unchanged";
}

}  // namespace standardize_test

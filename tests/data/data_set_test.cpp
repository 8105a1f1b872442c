// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/data_set.hpp>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../io/idx_files.hpp"
#include "numbered.hpp"

namespace data_set_test {

using namespace crochet;
using crochet::test::expect_says;
using crochet::test::message_of;
using crochet::test::numbered;

/// The numbers of the rows, in order; checks that the fields still belong together.
template <class Data>
std::vector<int> numbers(const Data& data) {
  std::vector<int> all;
  const auto x = data.template view<"x">();
  for (std::int64_t i = 0; i < data.size(); ++i) {
    all.push_back(static_cast<int>(x(i, 0)));
    EXPECT_EQ(x(i, 1), -x(i, 0));
    EXPECT_EQ(data.template view<"y">()(i), 10 * all.back());
  }
  return all;
}

std::vector<int> all_of(int rows) {
  std::vector<int> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(DataSet, FieldsOfEveryKindOfSource) {
  const std::vector<double> doubles{1, 2, 3, 4};
  const std::array<std::uint8_t, 4> bytes{5, 6, 7, 8};
  const TensorView<double, 2> view{doubles.data(), {2, 2}};
  const auto data = data_set(field<"vector">(std::vector<std::int64_t>{1, 2}), field<"rows">(doubles, {2}),
                             field<"span">(std::span<const std::uint8_t>(bytes), {1, 2}), field<"view">(view),
                             field<"array">(SharedArray<float, 1>{{1, 2}, {2}}));
  EXPECT_EQ(data.size(), 2);
  static_assert(std::is_same_v<decltype(data.view<"vector">()), TensorView<std::int64_t, 1>>);
  static_assert(std::is_same_v<decltype(data.view<"rows">()), TensorView<double, 2>>);
  static_assert(std::is_same_v<decltype(data.view<"span">()), TensorView<std::uint8_t, 3>>);
  static_assert(std::is_same_v<decltype(data.view<"view">()), TensorView<double, 2>>);
  EXPECT_EQ(data.view<"span">()(1, 0, 1), 8);
  EXPECT_EQ(data.view<"rows">()(1, 0), 3);
  EXPECT_NE(data.view<"view">().data(), view.data()) << "a copy";
}

TEST(DataSet, FieldsOfEigensMatricesAndMaps) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Rows> rows(numbers.data(), 3, 2);
  const Eigen::MatrixXd columns = rows.cast<double>();
  const Eigen::Map<const Eigen::VectorXf> vector(numbers.data(), 3);
  const Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> apart(numbers.data(), 3, 1, Eigen::OuterStride<>(3));
  const auto data = data_set(field<"rows">(rows), field<"columns">(columns), field<"vector">(vector),
                             field<"twice">(2 * rows.array()), field<"apart">(apart));
  EXPECT_EQ(data.size(), 3);
  static_assert(std::is_same_v<decltype(data.view<"rows">()), TensorView<float, 2>>);
  static_assert(std::is_same_v<decltype(data.view<"columns">()), TensorView<double, 2>>);
  static_assert(std::is_same_v<decltype(data.view<"vector">()), TensorView<float, 1>>);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(data.view<"vector">()(i), static_cast<float>(i + 1));
    EXPECT_EQ(data.view<"apart">()(i, 0), static_cast<float>(i + 1));
    for (std::int64_t j = 0; j < 2; ++j) {
      EXPECT_EQ(data.view<"rows">()(i, j), static_cast<float>(2 * i + j + 1));
      EXPECT_EQ(data.view<"columns">()(i, j), static_cast<double>(2 * i + j + 1));
      EXPECT_EQ(data.view<"twice">()(i, j), static_cast<float>(2 * (2 * i + j + 1)));
    }
  }
  EXPECT_THROW(data_set(field<"x">(Eigen::MatrixXf(0, 2))), LogicError);
  EXPECT_THROW(field<"x">(Eigen::MatrixXf(2, 0)), LogicError);
}

TEST(DataSet, ACopySharesTheElements) {
  const auto data = numbered(3);
  const auto copy = data;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  EXPECT_EQ(copy.view<"x">().data(), data.view<"x">().data());
}

TEST(DataSet, RefusesFieldsThatDoNotFit) {
  using Ints = std::vector<std::int32_t>;
  expect_says(message_of<LogicError>([] {
                data_set(field<"a">(Ints{1, 2}), field<"b">(Ints{1}));
              }),
              {"field b has 1 rows, and the first one 2"});
  EXPECT_THROW(data_set(field<"a">(Ints{})), LogicError);
  expect_says(message_of<LogicError>([] { (void)field<"a">(Ints{1, 2, 3}, {2}); }), {"field a: 3 elements", "[2]"});
  EXPECT_THROW((void)field<"a">(Ints{1, 2, 3}, {0}), LogicError);
  EXPECT_THROW((void)field<"a">(Ints{1, 2, 3}, {-3}), LogicError);
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_THROW((void)field<"a">(Ints{1, 2}, {huge, huge}), LogicError);
  EXPECT_THROW((SharedArray<std::int32_t, 2>{Ints{1, 2}, {2, 2}}), LogicError);
  EXPECT_THROW((SharedArray<std::int32_t, 3>{Ints{}, {huge, huge, huge}}), LogicError);
  EXPECT_THROW((SharedArray<std::int32_t, 2>{Ints{1, 2}, {-1, -2}}), LogicError);
  EXPECT_EQ((SharedArray<std::int32_t, 2>{Ints{}, {0, huge}}).rows(), 0);
}

TEST(DataSet, RowsAndTake) {
  const auto data = numbered(5);
  EXPECT_EQ(numbers(data.rows(std::vector<std::uint32_t>{4, 0, 4})), (std::vector<int>{4, 0, 4}));
  EXPECT_EQ(numbers(data.take(2)), (std::vector<int>{0, 1}));
  EXPECT_EQ(numbers(data.take(5)), all_of(5));
  EXPECT_THROW((void)data.rows(std::vector<std::uint32_t>{5}), LogicError);
  EXPECT_THROW((void)data.take(0), LogicError);
  EXPECT_THROW((void)data.take(6), LogicError);
}

TEST(DataSet, TheTwoPartsOfASplitAreDisjointAndTogetherAll) {
  for (const int rows : {2, 3, 10, 101}) {
    for (const double fraction : {0.3, 0.5, 0.6}) {
      for (const std::uint64_t seed : {0U, 1U, 99U}) {
        const auto [first, second] = numbered(rows).split(fraction, seed);
        std::vector<int> a = numbers(first), b = numbers(second), both;
        EXPECT_EQ(first.size(), std::llround(fraction * rows));
        EXPECT_TRUE(std::is_sorted(a.begin(), a.end()) && std::is_sorted(b.begin(), b.end()));
        std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        EXPECT_EQ(both, all_of(rows));
      }
    }
  }
}

TEST(DataSet, TheSeedAloneDeterminesASplit) {
  const auto part = [](std::uint64_t seed) { return numbers(numbered(20).split(0.25, seed).first); };
  EXPECT_EQ(part(1), part(1));
  EXPECT_NE(part(1), part(2));
  std::vector<std::uint32_t> order(20);
  shuffled_order(order, 1, 0);
  std::vector<int> expected(order.begin(), order.begin() + 5);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(part(1), expected) << "of shuffled_order, which is the same on every machine";
}

TEST(DataSet, RefusesASplitWithoutTwoParts) {
  for (const double fraction : {0.0, 1.0, -1.0, 2.0, 0.01, 0.99, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW((void)numbered(10).split(fraction, 1), LogicError) << fraction;
}

TEST(DataSet, ShardsHaveEachRowOnce) {
  for (const std::int64_t processes : {1, 2, 3, 7}) {
    std::vector<int> all;
    for (std::int64_t rank = 0; rank < processes; ++rank) {
      const auto part = numbers(numbered(7).shard(rank, processes));
      EXPECT_LE(7 / processes, std::ssize(part));
      EXPECT_LE(std::ssize(part), 7 / processes + 1);
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, all_of(7));
  }
  for (const auto& [rank, processes] : std::vector<std::array<std::int64_t, 2>>{{-1, 2}, {2, 2}, {0, 0}, {0, 8}})
    EXPECT_THROW((void)numbered(7).shard(rank, processes), LogicError);
}

TEST(DataSet, MapsRowsToElementsAndRanges) {
  const auto data = numbered(3);
  const auto halves = data.map<"y">([](std::int32_t y) { return static_cast<float>(y) / 2; });
  static_assert(std::is_same_v<decltype(halves.view<"y">()), TensorView<float, 1>>);
  EXPECT_EQ(halves.view<"y">()(2), 10);
  EXPECT_EQ(halves.view<"x">().data(), data.view<"x">().data()) << "the other fields are shared";

  const auto sums = data.map<"x">([](TensorView<float, 1> x) { return x[0] + x[1]; });
  EXPECT_EQ(sums.view<"x">()(2), 0);
  const auto wide = data.map<"x">([](TensorView<float, 1> x) { return std::array<double, 3>{x[0], x[1], 7}; });
  EXPECT_EQ(wide.view<"x">().shape(), (std::array<std::int64_t, 2>{3, 3}));
  EXPECT_EQ(wide.view<"x">()(2, 1), -2);
  expect_says(message_of<LogicError>(
                  [&] { (void)data.map<"y">([](std::int32_t y) { return std::vector<float>(y < 20 ? 2U : 3U); }); }),
              {"field y", "3 elements for row 2", "for the first row 2"});
}

TEST(DataSet, WithAddsAFieldOrReplacesOne) {
  const auto more = numbered(2).with(field<"weight">(std::vector<float>{3, 4}));
  EXPECT_EQ(more.view<"weight">()(1), 4);
  EXPECT_EQ(more.view<"y">()(1), 10);
  const auto other = more.with(field<"y">(std::vector<float>{5, 6}));
  static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(other.fields())>> == 3);
  EXPECT_EQ(other.view<"y">()(1), 6);
  EXPECT_THROW((void)more.with(field<"y">(std::vector<float>{5})), LogicError);
}

}  // namespace data_set_test

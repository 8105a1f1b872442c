// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/shuffle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace shuffle_test {

using crochet::shuffled_order;
using crochet::SplitMix64;

std::vector<std::uint32_t> order(std::size_t size, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::uint32_t> indices(size, 99);
  shuffled_order(indices, seed, epoch);
  return indices;
}

TEST(SplitMix64, GivesThePublishedNumbers) {
  SplitMix64 random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U, 16408922859458223821U})
    EXPECT_EQ(random(), expected);
}

TEST(SplitMix64, BelowIsUniform) {
  SplitMix64 random(3);
  constexpr std::uint32_t bound = 6;
  std::array<int, bound> count{};
  for (int i = 0; i < 60'000; ++i) ++count.at(random.below(bound));
  // Chi-squared with 5 degrees of freedom: one seed in a thousand exceeds 20.5.
  double chi_squared = 0;
  for (const int n : count) chi_squared += (n - 10'000.0) * (n - 10'000.0) / 10'000.0;
  EXPECT_LT(chi_squared, 20.5);
}

TEST(SplitMix64, BelowStaysBelowAtTheEnds) {
  SplitMix64 random(4);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(random.below(1), 0U);
    EXPECT_LT(random.below(0xffffffffU), 0xffffffffU);
    EXPECT_LT(random.below(0x80000001U), 0x80000001U);
  }
}

// These orders are part of the interface: a run can be repeated on another machine and with a later version.
TEST(ShuffledOrder, IsTheSameEverywhereAndForever) {
  EXPECT_EQ(order(10, 1, 0), (std::vector<std::uint32_t>{9, 4, 2, 1, 3, 0, 7, 6, 8, 5}));
  EXPECT_EQ(order(10, 1, 1), (std::vector<std::uint32_t>{3, 2, 8, 9, 4, 1, 7, 6, 5, 0}));
  EXPECT_EQ(order(10, 2, 0), (std::vector<std::uint32_t>{4, 1, 0, 2, 8, 6, 5, 3, 9, 7}));
}

TEST(ShuffledOrder, CanBeComputedByTheCompiler) {
  static constexpr auto at_compile_time = [] {
    std::array<std::uint32_t, 10> indices{};
    shuffled_order(indices, 1, 0);
    return indices;
  }();
  EXPECT_TRUE(std::equal(at_compile_time.begin(), at_compile_time.end(), order(10, 1, 0).begin()));
}

TEST(ShuffledOrder, IsAPermutation) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 1000U}) {
    auto sorted = order(size, 5, 6);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(sorted, expected);
  }
}

TEST(ShuffledOrder, DependsOnSeedAndEpochOnly) {
  EXPECT_EQ(order(100, 1, 2), order(100, 1, 2));
  EXPECT_NE(order(100, 1, 2), order(100, 1, 3));
  EXPECT_NE(order(100, 1, 2), order(100, 2, 2));
  EXPECT_NE(order(100, 1, 2), order(100, 2, 1));  // seed and epoch are not interchangeable
  EXPECT_NE(order(100, 0, 1), order(100, 1, 0));
}

// All 6 orders of 3 elements are equally frequent.
TEST(ShuffledOrder, IsUnbiased) {
  std::array<int, 6> count{};
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const auto indices = order(3, 9, epoch);
    ++count.at(indices[0] * 2 + (indices[1] > indices[2] ? 1 : 0));
  }
  double chi_squared = 0;
  for (const int n : count) chi_squared += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 20.5);
}

}  // namespace shuffle_test

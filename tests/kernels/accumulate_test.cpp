// SPDX-License-Identifier: Apache-2.0
// Accumulation of many elements, against sums in long double: lengths around the vector width and the block length,
// NaN, infinities, empty input.
#include <gtest/gtest.h>
#include <crochet/kernels/accumulate.hpp>

#include <vector>

#include "../graph/random_values.hpp"

namespace crochet::kernel {
namespace accumulate_test {

template <class T>
std::vector<T> numbers(std::size_t n) {
  const std::vector<double> d = Numbers(n + 1).many(n);
  return {d.begin(), d.end()};
}

constexpr std::int64_t lengths[] = {0, 1, 3, 15, 16, 17, 63, 64, 65, 255, 1009, 16 * 1024 + 5, 100003};

template <class T>
void test_sum(double tolerance) {
  for (std::int64_t n : lengths) {
    const std::vector<T> x = numbers<T>(static_cast<std::size_t>(n));
    long double exact = 0, size = 1;
    for (T e : x) exact += e, size += std::abs(static_cast<long double>(e));
    EXPECT_NEAR((join_run<Sum, T>(x.data(), n)), static_cast<double>(exact), tolerance * static_cast<double>(size))
        << n;
  }
}
TEST(Accumulate, SumsInFloatAreAboutAsExactAsInDouble) { test_sum<float>(0x1p-22); }
TEST(Accumulate, SumsInDouble) { test_sum<double>(0x1p-50); }

TEST(Accumulate, ALongSumOfEqualNumbersDoesNotStall) {
  const std::vector<float> x(std::size_t{1} << 24, 0.1F);  // one float accumulator would end 15 % too high
  EXPECT_NEAR((join_run<Sum, float>(x.data(), 1 << 24)), static_cast<double>(0.1F) * (1 << 24), 8);
}

template <class How, class T, class Join>
void test_join(T nothing, Join join) {
  for (std::int64_t n : lengths) {
    const std::vector<T> x = numbers<T>(static_cast<std::size_t>(n));
    T expected = nothing;
    for (T e : x) expected = join(expected, e);
    EXPECT_EQ((join_run<How, T>(x.data(), n)), expected) << n;
  }
}
template <class T>
void test_extremes(T low, T high) {
  test_join<Max, T>(low, [](T a, T b) { return a > b ? a : b; });
  test_join<Min, T>(high, [](T a, T b) { return a < b ? a : b; });
}
TEST(Accumulate, Extremes) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  test_extremes<float>(-inf, inf);
  test_extremes<double>(-inf, inf);
  test_extremes<std::int32_t>(std::numeric_limits<std::int32_t>::lowest(), std::numeric_limits<std::int32_t>::max());
  test_extremes<std::uint8_t>(0, 255);
}

TEST(Accumulate, ANanAnywhereIsTheResult) {
  for (std::size_t at = 0; at < 150; ++at) {
    std::vector<float> x = numbers<float>(150);
    x[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(join_run<Max, float>(x.data(), 150))) << at;
    EXPECT_TRUE(std::isnan(join_run<Min, float>(x.data(), 150))) << at;
    EXPECT_TRUE(std::isnan(join_run<Sum, float>(x.data(), 150))) << at;
    EXPECT_TRUE(std::isnan(join_run<Product, float>(x.data(), 150))) << at;
  }
}

TEST(Accumulate, Products) {
  for (std::int64_t n : {0, 1, 3, 17, 100}) {
    const std::vector<double> x = numbers<double>(static_cast<std::size_t>(n));
    double expected = 1;
    for (double e : x) expected *= e;
    EXPECT_NEAR((join_run<Product, double>(x.data(), n)), expected, std::abs(expected) * 1e-13) << n;
  }
}

TEST(Accumulate, AnyAndAllOfBools) {
  for (std::size_t n : {1U, 16U, 17U, 70U, 200U}) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<std::uint8_t> one(n, 0), hole(n, 1);
      one[at] = 1;
      hole[at] = 0;
      const auto* first = reinterpret_cast<const bool*>(one.data());
      const auto* second = reinterpret_cast<const bool*>(hole.data());
      EXPECT_EQ((join_run<Any, bool>(first, static_cast<std::int64_t>(n))), 1);
      EXPECT_EQ((join_run<All, bool>(second, static_cast<std::int64_t>(n))), 0);
    }
  }
}

}  // namespace accumulate_test
}  // namespace crochet::kernel

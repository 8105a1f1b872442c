// SPDX-License-Identifier: Apache-2.0
// Initial values of variables: their distribution, and that they depend only on the seed and the name.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <crochet/executor/cpu.hpp>
#include <crochet/model.hpp>

namespace crochet {
namespace initializers_test {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    g.variable<float>("zeros", {100}, zeros());
    g.variable<std::int32_t>("constant", {100}, constant_initializer(7));
    g.variable<double>("uniform", {300, 200}, uniform(-2, 4));
    g.variable<double>("normal", {300, 200}, truncated_normal(1, 0.5));
    g.variable<float>("glorot", {300, 200}, glorot_uniform());
    g.variable<float>("he", {5, 5, 40, 60}, he_normal());
    g.variable<float>("lecun", {300, 200}, lecun_uniform());
    g.variable<bool>("bool", {10}, ones());
  }
};
/// Another variable before it, and another shape and type, but the same name.
struct Other {
  static constexpr void define(GraphBuilder& g) {
    g.variable<float>("something else", {17}, uniform(0, 1));
    g.variable<double>("uniform", {1000}, uniform(-2, 4));
    g.variable<double>("not uniform", {1000}, uniform(-2, 4));
  }
};

template <class M = Model>
auto initialized(int threads = 1, std::uint64_t seed = 1) {
  auto executor = Cpu{threads, seed}.compile<M>();
  executor.initialize();
  return executor;
}
template <class E, class N>
std::vector<double> values(E& executor, N name) {
  const auto v = executor.variable(name);
  return {v.begin(), v.end()};
}

struct Statistics {
  double mean, deviation, low, high;
  explicit Statistics(const std::vector<double>& v) {
    const auto n = static_cast<double>(v.size());
    mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
    deviation = std::sqrt(
        std::accumulate(v.begin(), v.end(), 0.0, [&](double s, double x) { return s + (x - mean) * (x - mean); }) / n);
    low = *std::min_element(v.begin(), v.end());
    high = *std::max_element(v.begin(), v.end());
  }
};

TEST(Initializers, ConstantsAreConstant) {
  auto e = initialized();
  EXPECT_EQ(values(e, Name<"zeros">{}), std::vector<double>(100, 0));
  EXPECT_EQ(values(e, Name<"constant">{}), std::vector<double>(100, 7));
  EXPECT_EQ(values(e, Name<"bool">{}), std::vector<double>(10, 1));
}

// 60,000 draws: the standard error of a mean is 0.4 % of the deviation, so 2 % are five sigmas.

TEST(Initializers, UniformIsUniform) {
  auto e = initialized();
  const Statistics s(values(e, Name<"uniform">{}));
  EXPECT_NEAR(s.mean, 1, 0.02 * 6 / std::sqrt(12));
  EXPECT_NEAR(s.deviation, 6 / std::sqrt(12), 0.02 * 6 / std::sqrt(12));
  EXPECT_GE(s.low, -2);
  EXPECT_LT(s.low, -1.99);
  EXPECT_LT(s.high, 4);
  EXPECT_GT(s.high, 3.99);
}

TEST(Initializers, TruncatedNormalEndsAtTwoDeviations) {
  auto e = initialized();
  const std::vector<double> v = values(e, Name<"normal">{});
  const Statistics s(v);
  EXPECT_NEAR(s.mean, 1, 0.02 * 0.5);
  EXPECT_NEAR(s.deviation, 0.87962566103423978 * 0.5, 0.02 * 0.5);
  EXPECT_GE(s.low, 0);
  EXPECT_LE(s.high, 2);
  const auto inner = std::count_if(v.begin(), v.end(), [](double x) { return std::abs(x - 1) < 0.5; });
  EXPECT_NEAR(static_cast<double>(inner) / 60000, 0.682689 / 0.954500, 0.01);
}

TEST(Initializers, ScaledOnesHaveTheirVariance) {
  auto e = initialized();
  const Statistics glorot(values(e, Name<"glorot">{})), he(values(e, Name<"he">{})), lecun(values(e, Name<"lecun">{}));
  EXPECT_NEAR(glorot.deviation, std::sqrt(2.0 / 500), 0.02 * std::sqrt(2.0 / 500));
  EXPECT_LE(glorot.high, std::sqrt(6.0 / 500));
  EXPECT_NEAR(he.deviation, std::sqrt(2.0 / 1000), 0.02 * std::sqrt(2.0 / 1000));
  EXPECT_NEAR(he.mean, 0, 0.02 * std::sqrt(2.0 / 1000));
  EXPECT_NEAR(lecun.deviation, std::sqrt(1.0 / 900), 0.02 * std::sqrt(1.0 / 900));
}

TEST(Initializers, DependOnSeedAndNameAlone) {
  auto e = initialized(), again = initialized(3), other_seed = initialized(1, 2);
  const auto first = values(e, Name<"uniform">{});
  EXPECT_EQ(first, values(again, Name<"uniform">{}));
  EXPECT_NE(first, values(other_seed, Name<"uniform">{}));
  auto other = initialized<Other>();
  const auto elsewhere = values(other, Name<"uniform">{});
  EXPECT_TRUE(std::equal(elsewhere.begin(), elsewhere.end(), first.begin()));
  EXPECT_NE(elsewhere, values(other, Name<"not uniform">{}));
}

TEST(Initializers, InitializeStartsOver) {
  auto e = initialized();
  const auto first = values(e, Name<"normal">{});
  e.variable(Name<"normal">{})[5] = 100;
  e.initialize();
  EXPECT_EQ(first, values(e, Name<"normal">{}));
}

}  // namespace initializers_test
}  // namespace crochet

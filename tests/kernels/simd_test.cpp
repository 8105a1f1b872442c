// SPDX-License-Identifier: Apache-2.0
// Functions on vectors: their error in units of the last place against the standard library's in double, and what they
// make of NaN, infinities, zeros and subnormal numbers. A vector and its elements one by one give the same.
#include <bit>
#include <vector>

#include <crochet/kernels/elementwise.hpp>
#include <gtest/gtest.h>

namespace crochet {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

/// f of one number, computed in each lane of a vector.
template <class F>
float in_vector(F f, float x) {
  float lanes[simd::lanes];
  for (int i = 0; i < simd::lanes; ++i) lanes[i] = i % 2 == 0 ? x : 1.F;
  simd::store(lanes, f(simd::load<float, true>(lanes)));
  for (int i = 0; i < simd::lanes; i += 2) {
    EXPECT_TRUE(std::bit_cast<std::uint32_t>(lanes[i]) == std::bit_cast<std::uint32_t>(lanes[0])) << "lane " << i;
  }
  return lanes[0];
}

/// The distance of `given` from `exact` in units of the last place of a float of that size.
double ulps(double exact, float given) {
  if (static_cast<float>(exact) == given) return 0;
  const float size = std::abs(static_cast<float>(exact));
  const double unit = std::isinf(size) || std::isinf(given) ? 0x1p104
                                     : static_cast<double>(std::nextafter(size, inf)) - static_cast<double>(size);
  return std::abs(exact - static_cast<double>(given)) / unit;
}

template <class F, class G>
void expect_within(double allowed, F f, G exact, float low, float high) {
  double worst = 0;
  float worst_at = low;
  constexpr int n = 200001;
  for (int i = 0; i < n; ++i) {
    const float x = static_cast<float>(low + (static_cast<double>(high) - low) * i / (n - 1));
    const double e = ulps(exact(static_cast<double>(x)), in_vector(f, x));
    if (!(e <= worst)) worst = e, worst_at = x;
  }
  EXPECT_LE(worst, allowed) << "at " << worst_at << ", exactly " << exact(static_cast<double>(worst_at)) << ", given "
                            << in_vector(f, worst_at);
}

constexpr auto vector_exp = [](const auto& x) { return simd::exp(x); };
constexpr auto vector_log = [](const auto& x) { return simd::log(x); };
constexpr auto vector_tanh = [](const auto& x) { return simd::tanh(x); };
constexpr auto std_exp = [](double x) { return std::exp(x); };
constexpr auto std_log = [](double x) { return std::log(x); };
constexpr auto std_tanh = [](double x) { return std::tanh(x); };

TEST(Simd, ExpIsWithinTwoUlps) {
  expect_within(2, vector_exp, std_exp, -1, 1);
  expect_within(2, vector_exp, std_exp, -87.3F, 88.7F);
  expect_within(2, vector_exp, std_exp, 88.3F, 88.72F);
}

TEST(Simd, ExpAtTheEnds) {
  EXPECT_EQ(in_vector(vector_exp, 0), 1);
  EXPECT_EQ(in_vector(vector_exp, 88.73F), inf);
  EXPECT_EQ(in_vector(vector_exp, inf), inf);
  EXPECT_EQ(in_vector(vector_exp, -inf), 0);
  EXPECT_LT(in_vector(vector_exp, -88), 1.2e-38F);
  EXPECT_EQ(in_vector(vector_exp, -1e30F), 0);
  EXPECT_TRUE(std::isnan(in_vector(vector_exp, nan)));
}

TEST(Simd, LogIsWithinTwoUlps) {
  expect_within(2, vector_log, std_log, 1e-3F, 0.7F);
  expect_within(2, vector_log, std_log, 0.7F, 1.5F);
  expect_within(2, vector_log, std_log, 1.5F, 100);
  expect_within(2, vector_log, std_log, 1.1755e-38F, 1e-36F);
  expect_within(2, vector_log, std_log, 1e30F, 3.4e38F);
}

TEST(Simd, LogAtTheEnds) {
  EXPECT_EQ(in_vector(vector_log, 1), 0);
  EXPECT_EQ(in_vector(vector_log, 0), -inf);
  EXPECT_EQ(in_vector(vector_log, -0.F), -inf);
  EXPECT_EQ(in_vector(vector_log, inf), inf);
  EXPECT_TRUE(std::isnan(in_vector(vector_log, -1)));
  EXPECT_TRUE(std::isnan(in_vector(vector_log, -inf)));
  EXPECT_TRUE(std::isnan(in_vector(vector_log, nan)));
}

TEST(Simd, LogOfSubnormalNumbers) { expect_within(2, vector_log, std_log, 1e-45F, 1.1754e-38F); }

TEST(Simd, TanhIsWithinThreeUlps) {
  expect_within(3, vector_tanh, std_tanh, -0.7F, 0.7F);
  expect_within(3, vector_tanh, std_tanh, -20, 20);
  expect_within(3, vector_tanh, std_tanh, 1e-38F, 1e-3F);
}

TEST(Simd, TanhAtTheEnds) {
  EXPECT_EQ(in_vector(vector_tanh, inf), 1);
  EXPECT_EQ(in_vector(vector_tanh, -inf), -1);
  EXPECT_EQ(in_vector(vector_tanh, 1e30F), 1);
  EXPECT_TRUE(std::isnan(in_vector(vector_tanh, nan)));
}

TEST(Simd, SqrtIsExact) {
  for (float x : {0.F, 1.F, 2.F, 1e-38F, 3e38F, inf}) {
    EXPECT_EQ(in_vector([](const auto& v) { return simd::sqrt(v); }, x), std::sqrt(x));
  }
  EXPECT_TRUE(std::isnan(in_vector([](const auto& v) { return simd::sqrt(v); }, -1)));
}

TEST(Simd, DoublesAreTheStandardLibrarys) {
  double lanes[simd::lanes];
  for (int i = 0; i < simd::lanes; ++i) lanes[i] = 0.1 * i - 0.3;
  double result[simd::lanes];
  simd::store(result, simd::exp(simd::load<double, true>(lanes)));
  for (int i = 0; i < simd::lanes; ++i) EXPECT_EQ(result[i], std::exp(lanes[i]));
  simd::store(result, simd::tanh(simd::load<double, true>(lanes)));
  for (int i = 0; i < simd::lanes; ++i) EXPECT_EQ(result[i], std::tanh(lanes[i]));
}

TEST(Simd, SumsInAFixedOrder) {
  float lanes[simd::lanes];
  for (int i = 0; i < simd::lanes; ++i) lanes[i] = static_cast<float>(i + 1);
  EXPECT_EQ(simd::sum(simd::load<float, true>(lanes)), static_cast<float>(simd::lanes * (simd::lanes + 1) / 2));
}

template <class From, class To>
void convert_all(const std::vector<From>& values) {
  for (From x : values) {
    From lanes[simd::lanes];
    To result[simd::lanes];
    for (From& l : lanes) l = x;
    simd::store(result, simd::convert<From, To, true>(simd::load<From, true>(lanes)));
    const To one_by_one = static_cast<To>(simd::convert<From, To, false>(static_cast<simd::cell_t<From>>(x)));
    for (To r : result) EXPECT_EQ(r, static_cast<To>(x));
    EXPECT_EQ(one_by_one, static_cast<To>(x));
  }
}

TEST(Simd, ConvertsAsStaticCastDoes) {
  convert_all<float, std::int32_t>({0, 1.9F, -1.9F, 1e9F});
  convert_all<float, std::uint8_t>({0, 1.9F, 255});
  convert_all<float, std::int64_t>({0, -2.5F, 1e15F});
  convert_all<double, float>({0, 0.1, -1e300 * 0, 1e30});
  convert_all<std::int64_t, float>({0, -5, 1LL << 40});
  convert_all<std::uint8_t, double>({0, 255});
  convert_all<std::int32_t, std::uint8_t>({0, 255, 256, -1});
  convert_all<float, bool>({0, -0.F, 0.5F, nan, -inf});
  convert_all<double, bool>({0, 1e-300, -2});
  convert_all<std::int64_t, bool>({0, 1LL << 40, -1});
  convert_all<std::uint8_t, bool>({0, 1, 2, 255});
  convert_all<bool, float>({false, true});
  convert_all<bool, std::int64_t>({false, true});
}

}  // namespace
}  // namespace crochet

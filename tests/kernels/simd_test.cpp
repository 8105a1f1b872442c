// SPDX-License-Identifier: Apache-2.0
// Functions on vectors: their error in units of the last place (ulp) against long double over dense grids, and their
// results for NaN, infinities, zeros and subnormal numbers. In every lane, and as scalars.
#include <gtest/gtest.h>
#include <crochet/kernels/elementwise.hpp>
#include <crochet/kernels/registers.hpp>

#include <bit>
#include <cstdio>
#include <string>
#include <vector>

// Inlining: functions of the test must not return vectors wider than the machine's.
#define CROCHET_LAMBDA __attribute__((always_inline))

namespace crochet {
namespace {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr const char* type = sizeof(T) == 4 ? "float" : "double";

template <class T>
bool same_bits(T a, T b) {
  using I = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<I>(a) == std::bit_cast<I>(b) || (std::isnan(a) && std::isnan(b));
}

/// The distance of `given` from `exact` in units of the last place of T at exact's magnitude. Below the normal numbers
/// of T the unit is that of the smallest one.
template <class T>
double ulps(long double exact, T given) {
  const T rounded = static_cast<T>(exact);
  if (rounded == given || (std::isnan(rounded) && std::isnan(given))) return 0;
  if (std::isinf(given)) return HUGE_VAL;
  using L = std::numeric_limits<T>;
  int exponent = 0;
  std::frexp(std::isinf(rounded) ? L::max() : rounded, &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent, L::min_exponent) - L::digits);
  return static_cast<double>(std::abs(exact - static_cast<long double>(given)) / unit);
}

/// The largest error over n points of [low, high], in vectors and as scalars.
template <class T, class F, class G>
void expect_within(double allowed, F f, G exact, double low, double high, int n = 100001) {
  double worst = 0;
  T worst_at = 0;
  T x[simd::lanes], y[simd::lanes];
  for (int i = 0; i < n; i += simd::lanes) {
    for (int l = 0; l < simd::lanes; ++l) x[l] = static_cast<T>(low + (high - low) * std::min(i + l, n - 1) / (n - 1));
    simd::store(y, f(simd::load<T, true>(x)));
    for (int l = 0; l < simd::lanes; ++l) {
      const double e = ulps(exact(static_cast<long double>(x[l])), y[l]);
      if (!(e <= worst)) worst = e, worst_at = x[l];
    }
    const T alone = x[i / simd::lanes % simd::lanes];
    const double e = ulps(exact(static_cast<long double>(alone)), f(alone));
    if (!(e <= worst)) worst = e, worst_at = alone;
  }
  EXPECT_LE(worst, allowed) << type<T> << " in [" << low << ", " << high << "], worst at " << worst_at;
  std::printf("  %-6s [%g, %g]: %.2f ulp\n", type<T>, low, high, worst);
}
/// The same for float and double over the same ranges.
template <class F, class G>
void expect_both(double of_float, double of_double, F f, G exact,
                 std::initializer_list<std::pair<double, double>> ranges) {
  for (const auto& [low, high] : ranges) {
    expect_within<float>(of_float, f, exact, low, high);
    expect_within<double>(of_double, f, exact, low, high);
  }
}

/// A special value in every lane, with ordinary numbers in the other lanes.
template <class T, class F>
void expect_value(F f, double x, double expected) {
  for (int at = 0; at < simd::lanes; ++at) {
    T lanes[simd::lanes], y[simd::lanes];
    for (T& l : lanes) l = T(0.5);
    lanes[at] = static_cast<T>(x);
    simd::store(y, f(simd::load<T, true>(lanes)));
    ASSERT_TRUE(same_bits(y[at], static_cast<T>(expected)))
        << type<T> << " f(" << x << ") = " << y[at] << " in lane " << at;
    const T neighbour = y[(at + 1) % simd::lanes], alone = f(T(0.5));
    ASSERT_LE(std::abs(neighbour - alone), std::abs(alone) * std::numeric_limits<T>::epsilon() * 4) << "lane " << at;
  }
  EXPECT_TRUE(same_bits(f(static_cast<T>(x)), static_cast<T>(expected))) << type<T> << " f(" << x << ") alone";
}
template <class F>
void expect_values(F f, std::initializer_list<std::pair<double, double>> values) {
  for (const auto& [x, y] : values) {
    expect_value<float>(f, x, y);
    expect_value<double>(f, x, y);
  }
}
constexpr double infinity = inf<double>, not_a_number = nan<double>;

// On machines without an instruction to scale by powers of 2, exp returns 0 below about e^-86.9 (double: e^-707.7).
constexpr double low_float = -86.9, low_double = -707.6;

TEST(Simd, Exp) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::exp(x); };
  const auto exact = [](long double x) { return std::exp(x); };
  expect_both(2.5, 1.5, f, exact, {{-1, 1}, {-1e-3, 1e-3}, {low_float, 88.7}});
  expect_within<float>(2.5, f, exact, 88, 89);
  expect_within<double>(1.5, f, exact, low_double, 709.7);
  expect_within<double>(1.5, f, exact, 709, 710);
  expect_values(f, {{0, 1},
                    {-0., 1},
                    {infinity, infinity},
                    {-infinity, 0},
                    {not_a_number, not_a_number},
                    {1e30, infinity},
                    {-1e30, 0}});
  expect_value<float>(f, 88.73, infinity);
  expect_value<float>(f, 1e-45, 1);
  EXPECT_LT(simd::exp(-88.F), 1.2e-38F);
}

TEST(Simd, Expm1) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::expm1(x); };
  expect_both(3, 3, f, [](long double x) { return std::expm1(x); },
              {{-1, 1}, {-1e-3, 1e-3}, {1e-30, 1e-7}, {-50, 88.7}});
  expect_values(f,
                {{0, 0}, {-0., -0.}, {infinity, infinity}, {-infinity, -1}, {not_a_number, not_a_number}, {-100, -1}});
}

TEST(Simd, Log) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::log(x); };
  const auto exact = [](long double x) { return std::log(x); };
  expect_both(1, 1, f, exact, {{1e-3, 0.7}, {0.7, 1.5}, {0.99, 1.01}, {1.5, 100}, {1.18e-38, 1e-36}, {1e30, 3.4e38}});
  expect_within<float>(1, f, exact, 1e-45, 1.17e-38);  // subnormal
  expect_within<double>(1, f, exact, 5e-324, 2.2e-308);
  expect_within<double>(1, f, exact, 1e300, 1.7e308);
  expect_values(f, {{1, 0},
                    {0, -infinity},
                    {-0., -infinity},
                    {infinity, infinity},
                    {-1, not_a_number},
                    {-infinity, not_a_number},
                    {not_a_number, not_a_number}});
}

TEST(Simd, Log1p) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::log1p(x); };
  expect_both(1.5, 1.5, f, [](long double x) { return std::log1p(x); },
              {{-0.9999, -0.5}, {-0.5, 1}, {-1e-3, 1e-3}, {1e-30, 1e-7}, {1, 1e5}, {1e20, 1e38}});
  expect_values(
      f, {{0, 0}, {-0., -0.}, {-1, -infinity}, {infinity, infinity}, {-2, not_a_number}, {not_a_number, not_a_number}});
}

TEST(Simd, Tanh) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::tanh(x); };
  expect_both(3.5, 3.5, f, [](long double x) { return std::tanh(x); },
              {{-0.7, 0.7}, {-25, 25}, {1e-38, 1e-3}, {8, 10}});
  expect_values(f, {{0, 0}, {-0., -0.}, {infinity, 1}, {-infinity, -1}, {1e30, 1}, {not_a_number, not_a_number}});
}

TEST(Simd, Sigmoid) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::sigmoid(x); };
  const auto exact = [](long double x) { return 1 / (1 + std::exp(-x)); };
  expect_both(4, 4, f, exact, {{-1, 1}, {-20, 100}, {-1e-6, 1e-6}});
  expect_both(7, 4, f, exact, {{-86, -20}});
  expect_values(f, {{0, 0.5}, {infinity, 1}, {-infinity, 0}, {1e30, 1}, {-1e30, 0}, {not_a_number, not_a_number}});
}

TEST(Simd, Erf) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::erf(x); };
  expect_both(8, 3, f, [](long double x) { return std::erf(x); },
              {{-0.5, 0.5}, {-1, 1}, {1e-30, 1e-3}, {-4, 4}, {3.8, 7}});
  expect_values(f, {{0, 0}, {-0., -0.}, {infinity, 1}, {-infinity, -1}, {not_a_number, not_a_number}});
}

TEST(Simd, Erfc) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::erfc(x); };
  const auto exact = [](long double x) { return std::erfc(x); };
  expect_both(8, 5, f, exact, {{-7, -0.5}, {-0.5, 0.5}, {0.49, 0.51}, {0.5, 3}, {3, 9}});
  expect_within<double>(20, f, exact, 9, 26.4);
  expect_values(f, {{0, 1}, {infinity, 0}, {-infinity, 2}, {not_a_number, not_a_number}, {100, 0}});
}

TEST(Simd, SineAndCosine) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::sin(x); };
  const auto g = [](const auto& x) CROCHET_LAMBDA { return simd::cos(x); };
  const auto sine = [](long double x) { return std::sin(x); };
  const auto cosine = [](long double x) { return std::cos(x); };
  expect_both(0.6, 1, f, sine, {{-4, 4}, {-1e-3, 1e-3}, {-1000, 1000}, {1e5, 1e6}, {1e6, 1e9}});
  expect_both(0.6, 1, g, cosine, {{-4, 4}, {-1e-3, 1e-3}, {-1000, 1000}, {1e5, 1e6}, {1e6, 1e9}});
  expect_within<double>(1, f, sine, 3.14159265358, 3.14159265360);
  expect_within<double>(1, g, cosine, 1.57079632679, 1.57079632680);
  expect_values(f, {{0, 0}, {-0., -0.}, {infinity, not_a_number}, {not_a_number, not_a_number}});
  expect_values(g, {{0, 1}, {-infinity, not_a_number}, {not_a_number, not_a_number}});
}

TEST(Simd, SqrtIsExact) {
  const auto f = [](const auto& x) CROCHET_LAMBDA { return simd::sqrt(x); };
  expect_both(0.5, 0.5, f, [](long double x) { return std::sqrt(x); }, {{0, 10}, {1e-38, 1e-37}, {1e30, 3e38}});
  expect_values(f, {{0, 0}, {-0., -0.}, {infinity, infinity}, {-1, not_a_number}, {not_a_number, not_a_number}});
}

TEST(Simd, Rounding) {
  using enum simd::Rounding;
  const double inputs[] = {-2.5, -1.5, -0.5,    -0.2, 0.2, 0.5,      1.5,       2.5,
                           2.7,  -2.7, 8388609, 1e30, -0., infinity, -infinity, not_a_number};
  for (double x : inputs) {
    expect_values([](const auto& v) CROCHET_LAMBDA { return simd::round<nearest_even>(v); }, {{x, std::nearbyint(x)}});
    expect_values([](const auto& v) CROCHET_LAMBDA { return simd::round<down>(v); }, {{x, std::floor(x)}});
    expect_values([](const auto& v) CROCHET_LAMBDA { return simd::round<up>(v); }, {{x, std::ceil(x)}});
    expect_values([](const auto& v) CROCHET_LAMBDA { return simd::round<to_zero>(v); }, {{x, std::trunc(x)}});
  }
}

/// Comparisons (masks) and selections of every pair of values, in every lane.
template <class T>
void test_masks(const std::vector<T>& values) {
  for (std::size_t i = 0; i < values.size() * values.size(); ++i) {
    T a[simd::lanes], b[simd::lanes], chosen[simd::lanes];
    for (int l = 0; l < simd::lanes; ++l) {
      const std::size_t k = (i + static_cast<std::size_t>(l)) % (values.size() * values.size());
      a[l] = values[k / values.size()], b[l] = values[k % values.size()];
    }
    const auto x = simd::load<T, true>(a), y = simd::load<T, true>(b);
    const auto less = simd::compare<simd::Less>(x, y);
    const auto same = simd::compare<simd::Equal>(x, y);
    const auto bytes = simd::as_bytes<simd::lanes>(less);
    simd::store(chosen, (simd::choose<T, simd::lanes>(less, x, y)));
    for (int l = 0; l < simd::lanes; ++l) {
      EXPECT_EQ(less[l] != 0, a[l] < b[l]);
      EXPECT_EQ(same[l] != 0, a[l] == b[l]);
      EXPECT_EQ(bytes[l], a[l] < b[l] ? 1 : 0);
      EXPECT_TRUE(chosen[l] == (a[l] < b[l] ? a[l] : b[l]) || chosen[l] != chosen[l]);
    }
  }
}
TEST(Simd, ComparesAndSelectsLaneByLane) {
  test_masks<float>({0, 1, -1, 2.5F, inf<float>, -inf<float>, nan<float>});
  test_masks<double>({0, 1, -1, 2.5, inf<double>, -inf<double>, nan<double>});
  test_masks<std::int32_t>({0, 1, -1, 1 << 30});
  test_masks<std::int64_t>({0, 1, -1, 1LL << 60});
  test_masks<std::uint8_t>({0, 1, 255, 128});
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
  convert_all<float, bool>({0, -0.F, 0.5F, nan<float>, -inf<float>});
  convert_all<double, bool>({0, 1e-300, -2});
  convert_all<std::int64_t, bool>({0, 1LL << 40, -1});
  convert_all<std::uint8_t, bool>({0, 1, 2, 255});
  convert_all<bool, float>({false, true});
  convert_all<bool, std::int64_t>({false, true});
}

}  // namespace
}  // namespace crochet

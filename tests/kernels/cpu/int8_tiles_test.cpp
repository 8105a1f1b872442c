// SPDX-License-Identifier: Apache-2.0
// Int8Tiles::multiply against its definition: sums of products of integers, for sizes that are no multiple of a tile
// and every pair of layouts.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/int8_tiles.hpp>

#include "rounding_products.hpp"

namespace crochet::kernel {
namespace int8_tiles_test {

/// The integers of a row or a column, and the scale.
struct Rounded {
  std::vector<int> integers;
  double scale = 0;

  explicit Rounded(const std::vector<float>& x) {
    float largest = 0;
    for (const float v : x) largest = std::max(largest, std::abs(v));
    scale = static_cast<double>(largest) / 127;
    for (const float v : x)
      integers.push_back(largest > 0 ? static_cast<int>(std::nearbyint(v * (127.0F / largest))) : 0);
  }
};

std::vector<float> line(std::int64_t n, auto at) {
  std::vector<float> x;
  for (std::int64_t k = 0; k < n; ++k) x.push_back(at(k));
  return x;
}

/// Element (i, j) by its definition, or of floats where those are multiplied.
double element(const Size& s, const Layouts& l, std::int64_t i, std::int64_t j) {
  const auto a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
  const auto x = line(s.k, [&](auto k) { return a[static_cast<std::size_t>(l.a_turned ? k * s.m + i : i * s.k + k)]; });
  const auto y = line(s.k, [&](auto k) { return b[static_cast<std::size_t>(l.b_turned ? j * s.k + k : k * s.n + j)]; });
  const bool rounds = s.m > 4 && s.k >= 4;
  const Rounded p(x), q(y);
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum += rounds ? p.integers[k] * q.integers[k] * p.scale * q.scale
                  : static_cast<double>(x[k]) * static_cast<double>(y[k]);
  }
  return sum;
}

TEST(Int8Tiles, SumProductsOfIntegers) {
  each_layout([](const Size& s, const Layouts& l) {
    const auto c = product<Int8Tiles>(s, l, {0, s.m}, {0, s.n});
    for (std::int64_t i = 0; i < s.m; i += s.m / 7 + 1) {
      for (std::int64_t j = 0; j < s.n; j += s.n / 9 + 1) {
        ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * s.n + j)]), element(s, l, i, j), 2e-5)
            << i << ", " << j << " of " << s.m << " x " << s.n << " x " << s.k << ", transposed " << l.a_turned
            << l.b_turned << ", panels " << l.panels;
      }
    }
  });
}

TEST(Int8Tiles, APartOfTheResultHasTheBitsOfTheWhole) { test_parts<Int8Tiles>(); }
TEST(Int8Tiles, KeepACallersScratch) { test_scratch_offset<Int8Tiles>(); }
TEST(Int8Tiles, MultiplyDoublesAsTilesDo) { test_doubles<Int8Tiles>(); }

/// The product of a matrix [rows, depth] of equal numbers, but for one, by ones [depth, columns].
std::vector<float> product_with(float number, float one) {
  constexpr std::int64_t rows = 9, depth = 37, columns = 40;
  std::vector<float> a(static_cast<std::size_t>(rows * depth), number),
      b(static_cast<std::size_t>(depth * columns), 1.0F);
  a[3 * depth + 5] = one;
  std::vector<float> c(static_cast<std::size_t>(rows * columns));
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  Int8Tiles::multiply(row_major(a.data(), depth), row_major(b.data(), columns), depth, {0, rows}, {0, columns}, worker,
                      StoreTo<float>{c.data(), columns});
  return c;
}

TEST(Int8Tiles, ARowWithNanOrInfinityIsNanAndNoOther) {
  for (const float one : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    const auto c = product_with(0.5F, one);
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(std::isnan(c[i]), i / 40 == 3) << one << " at " << i;
  }
}

TEST(Int8Tiles, NumbersOfEveryMagnitudeAreMultiplied) {
  for (const float x : {0.0F, 1e-30F, -3.0F, 1e30F}) {
    for (const float y : product_with(x, x)) EXPECT_NEAR(y, 37 * x, std::abs(x) * 1e-4F) << x;
  }
  for (const float y : product_with(std::numeric_limits<float>::denorm_min(), 0))
    EXPECT_EQ(y, 0) << "too small for a scale";
}

TEST(Int8Tiles, SumsThatCouldExceedAnIntegerAreOfFloats) {
  for (const std::int64_t depth : {most_int8_depth, most_int8_depth + 1, std::int64_t{150528}}) {
    constexpr std::int64_t rows = 5, columns = 3;
    const std::vector<float> a(static_cast<std::size_t>(rows * depth), 1.0F),
        b(static_cast<std::size_t>(depth * columns), 1.0F);
    std::vector<float> c(static_cast<std::size_t>(rows * columns));
    Barrier barrier(1);
    std::vector<AlignedBytes> scratch(1);
    Worker worker(0, 1, barrier, scratch);
    Int8Tiles::multiply(row_major(a.data(), depth), row_major(b.data(), columns), depth, {0, rows}, {0, columns},
                        worker, StoreTo<float>{c.data(), columns});
    for (const float x : c) EXPECT_NEAR(x, static_cast<float>(depth), 0.02F);
  }
}

/// Both scales are large, and their product is infinite; the result is 0.
TEST(Int8Tiles, LargeScalesOnBothSidesDoNotMakeNan) {
  std::vector<float> a(8 * 4), b(4 * 3), c(8 * 3, 9.0F);
  a[0] = b[3] = 1e22F;
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  Int8Tiles::multiply(row_major(std::as_const(a).data(), 4), row_major(std::as_const(b).data(), 3), 4, {0, 8}, {0, 3},
                      worker, StoreTo<float>{c.data(), 3});
  EXPECT_EQ(c, std::vector<float>(8 * 3));
}

}  // namespace int8_tiles_test
}  // namespace crochet::kernel

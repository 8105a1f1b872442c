// SPDX-License-Identifier: Apache-2.0
// Bfloat16Tiles::multiply against three loops over rounded operands: sizes that are no multiple of a tile, every pair
// of layouts, and parts of the result.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/bfloat16_tiles.hpp>

#include "rounding_products.hpp"

namespace crochet::kernel {
namespace bfloat16_tiles_test {

/// The nearest number of 8 significant bits, ties to even, by arithmetic in double.
float nearest(float x) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8));
}

/// Element (i, j) by its definition. Products of at most four rows, and of one number each, are of floats.
double element(const Size& s, const Layouts& l, std::int64_t i, std::int64_t j) {
  const auto a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
  const bool rounds = s.m > 4 && s.k > 1;
  double sum = 0;
  for (std::int64_t k = 0; k < s.k; ++k) {
    const float x = a[static_cast<std::size_t>(l.a_turned ? k * s.m + i : i * s.k + k)];
    const float y = b[static_cast<std::size_t>(l.b_turned ? j * s.k + k : k * s.n + j)];
    sum += static_cast<double>(rounds ? nearest(x) : x) * static_cast<double>(rounds ? nearest(y) : y);
  }
  return sum;
}

TEST(Bfloat16Tiles, SumProductsOfRoundedNumbers) {
  each_layout([](const Size& s, const Layouts& l) {
    const auto c = product<Bfloat16Tiles>(s, l, {0, s.m}, {0, s.n});
    for (std::int64_t i = 0; i < s.m; i += s.m / 7 + 1) {
      for (std::int64_t j = 0; j < s.n; j += s.n / 9 + 1) {
        ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * s.n + j)]), element(s, l, i, j), 2e-5)
            << i << ", " << j << " of " << s.m << " x " << s.n << " x " << s.k << ", transposed " << l.a_turned
            << l.b_turned << ", panels " << l.panels;
      }
    }
  });
}

TEST(Bfloat16Tiles, APartOfTheResultHasTheBitsOfTheWhole) { test_parts<Bfloat16Tiles>(); }
TEST(Bfloat16Tiles, KeepACallersScratch) { test_scratch_offset<Bfloat16Tiles>(); }
TEST(Bfloat16Tiles, MultiplyDoublesAsTilesDo) { test_doubles<Bfloat16Tiles>(); }

float rounded(float x) { return std::bit_cast<float>(simd::upper_halves<simd::lanes>(x - simd::vec<float>{})[0]); }

TEST(Bfloat16, RoundsToNearestTiesToEven) {
  for (const float x : numbers(1000, 7)) EXPECT_EQ(rounded(x), nearest(x)) << x;
  EXPECT_EQ(rounded(1.0F + 0x1p-8F), 1.0F);
  EXPECT_EQ(rounded(1.0F + 3 * 0x1p-8F), 1.0F + 4 * 0x1p-8F);
  EXPECT_EQ(rounded(-0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
}

TEST(Bfloat16, KeepsInfinityAndNan) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded(infinity), infinity);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), infinity) << "nearer than the largest bfloat16";
  for (const std::uint32_t bits : {0x7f800001U, 0x7fffffffU, 0xffffffffU, 0x7fc00000U}) {
    EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(bits)))) << std::hex << bits;
  }
}

TEST(Bfloat16, ALineKeepsInfinityAndNan) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> line(70, 1.0F);
  for (std::size_t i = 0; i < line.size(); i += 14) line[i] = infinity;
  for (std::size_t i = 7; i < line.size(); i += 14) line[i] = nan;
  std::vector<Bfloat16Pair> pairs(35);
  round_line(line.data(), 70, pairs.data());
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto x = std::bit_cast<float>(i % 2 == 0 ? pairs[i / 2] << 16U : pairs[i / 2] & 0xffff0000U);
    EXPECT_EQ(std::isnan(x), std::isnan(line[i])) << i;
    if (!std::isnan(x)) {
      EXPECT_EQ(x, line[i]) << i;
    }
  }
}

TEST(Bfloat16, PairsOfALineAndOfTwoLinesAreTheSame) {
  for (const std::int64_t n : {1, 2, 15, 16, 31, 32, 33, 64, 67, 100}) {
    const auto first = numbers(n, 3), second = numbers(n, 4);
    std::vector<float> both;
    for (std::size_t i = 0; i < first.size(); ++i) {
      both.push_back(first[i]);
      both.push_back(second[i]);
    }
    std::vector<Bfloat16Pair> line(static_cast<std::size_t>(n)), lines(line);
    round_line(both.data(), 2 * n, line.data());
    round_lines(first.data(), second.data(), n, lines.data());
    EXPECT_EQ(line, lines);
    round_line(both.data(), 2 * n - 1, line.data());
    EXPECT_EQ(line.back(), lines.back() & 0xffffU) << "the missing number is 0";
  }
}

}  // namespace bfloat16_tiles_test
}  // namespace crochet::kernel

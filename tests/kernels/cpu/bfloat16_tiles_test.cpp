// SPDX-License-Identifier: Apache-2.0
// Bfloat16Tiles::multiply against three loops over rounded operands: sizes that are no multiple of a tile, every pair
// of layouts, and parts of the result.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/bfloat16_tiles.hpp>

namespace crochet::kernel {
namespace bfloat16_tiles_test {

/// The nearest number of 8 significant bits, ties to even, by arithmetic in double.
float nearest(float x) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8));
}

std::vector<float> numbers(std::int64_t n, std::uint32_t seed) {
  std::vector<float> v;
  v.reserve(1);  // data() of an empty vector must not be null: kernels add offsets to it
  v.resize(static_cast<std::size_t>(n));
  for (float& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<double>(seed >> 8U) * 0x1p-24 - 0.5);
  }
  return v;
}

struct Size {
  std::int64_t m, n, k;
};
struct Layouts {
  bool a_turned, b_turned, panels;
};

/// The rows and columns of the product; all other elements are 9.
std::vector<float> product(const Size& s, const Layouts& l, Range rows, Range columns) {
  const auto a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
  std::vector<float> c(static_cast<std::size_t>(s.m * s.n), 9.0F);
  const std::int64_t stored_rows = l.b_turned ? s.n : s.k, stored_columns = l.b_turned ? s.k : s.n;
  std::vector<float> packed(static_cast<std::size_t>(panel_elements<float>(stored_rows, stored_columns)), 9.0F);
  pack(b.data(), stored_rows, stored_columns, packed.data());
  const Matrix<float> ma = row_major(a.data(), l.a_turned ? s.m : s.k, l.a_turned);
  const Matrix<float> mb = l.panels ? in_panels<float>(packed.data(), stored_rows, stored_columns, l.b_turned)
                                    : row_major(b.data(), stored_columns, l.b_turned);
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  Bfloat16Tiles::multiply(ma, mb, s.k, rows, columns, worker, StoreTo<float>{c.data(), s.n});
  return c;
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

const Size sizes[] = {{1, 1, 1},    {1, 17, 3},   {17, 1, 5},   {5, 33, 2},  {7, 31, 16}, {8, 64, 17},
                      {13, 47, 33}, {67, 35, 19}, {70, 70, 65}, {3, 40, 12}, {9, 40, 1},  {24, 96, 70}};

template <class Use>
void each_layout(Use use) {
  for (const Size& s : sizes) {
    for (int choice = 0; choice < 8; ++choice) {
      use(s, Layouts{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0});
    }
  }
}

TEST(Bfloat16Tiles, SumProductsOfRoundedNumbers) {
  each_layout([](const Size& s, const Layouts& l) {
    const auto c = product(s, l, {0, s.m}, {0, s.n});
    for (std::int64_t i = 0; i < s.m; i += s.m / 7 + 1) {
      for (std::int64_t j = 0; j < s.n; j += s.n / 9 + 1) {
        ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * s.n + j)]), element(s, l, i, j), 2e-5)
            << i << ", " << j << " of " << s.m << " x " << s.n << " x " << s.k << ", transposed " << l.a_turned
            << l.b_turned << ", panels " << l.panels;
      }
    }
  });
}

TEST(Bfloat16Tiles, APartOfTheResultHasTheBitsOfTheWhole) {
  each_layout([](const Size& s, const Layouts& l) {
    const auto whole = product(s, l, {0, s.m}, {0, s.n});
    const std::int64_t row = s.m / 2 / Bfloat16Tiles::row_grain<float> * Bfloat16Tiles::row_grain<float>;
    const std::int64_t column = s.n / 2 / Bfloat16Tiles::column_grain<float> * Bfloat16Tiles::column_grain<float>;
    for (const auto& [rows, columns] :
         {std::pair{Range{0, row}, Range{0, s.n}}, std::pair{Range{row, s.m}, Range{0, s.n}},
          std::pair{Range{0, s.m}, Range{0, column}}, std::pair{Range{row, s.m}, Range{column, s.n}}}) {
      const auto part = product(s, l, rows, columns);
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          const bool mine = i >= rows.from && i < rows.to && j >= columns.from && j < columns.to;
          const auto at = static_cast<std::size_t>(i * s.n + j);
          ASSERT_EQ(part[at], mine ? whole[at] : 9.0F) << i << ", " << j << " of " << s.m << " x " << s.n;
        }
      }
    }
  });
}

TEST(Bfloat16Tiles, MultiplyDoublesAsTilesDo) {
  const std::vector<double> a(20 * 3, 1.0 / 3), b(3 * 20, 0.1);
  std::vector<double> c(20 * 20), expected(20 * 20);
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  const auto x = row_major(a.data(), 3), y = row_major(b.data(), 20);
  Bfloat16Tiles::multiply(x, y, 3, {0, 20}, {0, 20}, worker, StoreTo<double>{c.data(), 20});
  Tiles::multiply(x, y, 3, {0, 20}, {0, 20}, worker, StoreTo<double>{expected.data(), 20});
  EXPECT_EQ(c, expected);
}

float rounded(float x) { return std::bit_cast<float>(detail::round_to_bfloat16(x)); }

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

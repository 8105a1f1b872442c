// SPDX-License-Identifier: Apache-2.0
// Tiles::multiply against three loops: sizes that are no multiple of a tile, every pair of layouts, and parts of the
// result.
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/tiles.hpp>

namespace crochet::kernel {
namespace tiles_test {

template <class T>
std::vector<T> numbers(std::int64_t n, std::uint32_t seed) {
  std::vector<T> v;
  v.reserve(1);  // data() of an empty vector must not be null: kernels add offsets to it
  v.resize(static_cast<std::size_t>(n));
  for (T& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<T>(static_cast<double>(seed >> 8U) * 0x1p-24 - 0.5);
  }
  return v;
}

struct Size {
  std::int64_t m, n, k;
};

template <class T>
void check(const Size& s, bool ta, bool tb, Range rows, Range columns, bool panels = false) {
  const auto a = numbers<T>(s.m * s.k, 1), b = numbers<T>(s.k * s.n, 2);
  std::vector<T> c(static_cast<std::size_t>(s.m * s.n), T{9});
  const std::int64_t stored_rows = tb ? s.n : s.k, stored_columns = tb ? s.k : s.n;
  std::vector<T> packed;
  packed.reserve(1);
  packed.resize(static_cast<std::size_t>(panel_elements<T>(stored_rows, stored_columns)), T{9});
  pack(b.data(), stored_rows, stored_columns, packed.data());
  const Matrix<T> ma = row_major(a.data(), ta ? s.m : s.k, ta);
  const Matrix<T> mb =
      panels ? in_panels<T>(packed.data(), stored_rows, stored_columns, tb) : row_major(b.data(), stored_columns, tb);
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  Tiles::multiply(ma, mb, s.k, rows, columns, worker, StoreTo<T>{c.data(), s.n});
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      const bool mine = i >= rows.from && i < rows.to && j >= columns.from && j < columns.to;
      double expected = mine ? 0 : 9;
      for (std::int64_t k = 0; mine && k < s.k; ++k)
        expected += static_cast<double>(*ma.at(i, k)) * static_cast<double>(*mb.at(k, j));
      ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * s.n + j)]), expected,
                  sizeof(T) == 4 ? 2e-5 : 1e-13)
          << i << ", " << j << " of " << s.m << " x " << s.n << " x " << s.k << ", transposed " << ta << tb;
    }
  }
}

template <class T>
void check_all() {
  for (const Size& s :
       {Size{1, 1, 1}, Size{1, 17, 3}, Size{17, 1, 5}, Size{5, 33, 0}, Size{7, 31, 16}, Size{8, 64, 17},
        Size{13, 47, 33}, Size{67, 35, 19}, Size{130, 70, 65}, Size{2, 100, 40}, Size{9, 40, 1}, Size{1, 170, 1}}) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      const bool ta = transposed % 2 != 0, tb = transposed / 2 != 0;
      check<T>(s, ta, tb, {0, s.m}, {0, s.n});
      check<T>(s, ta, tb, {s.m / 3, s.m}, {0, s.n});
      check<T>(s, ta, tb, {0, s.m / 2}, {s.n / 2, s.n});
      check<T>(s, ta, tb, {s.m, s.m}, {0, s.n});
      check<T>(s, ta, tb, {0, s.m}, {0, s.n}, true);
      check<T>(s, ta, tb, {s.m / 3, s.m}, {s.n / 2 / panel_width<T> * panel_width<T>, s.n}, true);
      check<T>(s, ta, tb, {0, s.m}, {s.n, s.n});
    }
  }
}

TEST(Panels, KeepEveryElementAndFillUpWithZeros) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, std::pair{3, 17}, std::pair{5, 32}, std::pair{2, 100}, std::pair{0, 7}}) {
    const auto from = numbers<float>(rows * columns, 3);
    std::vector<float> packed(static_cast<std::size_t>(panel_elements<float>(rows, columns)), 9), back(from.size());
    pack(from.data(), rows, columns, packed.data());
    unpack(packed.data(), rows, columns, back.data());
    EXPECT_EQ(from, back);
    float sum = 0, all = 0;
    for (float x : packed) sum += std::abs(x);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const float x = packed[static_cast<std::size_t>(panel_offset<float>(rows, columns, i, j))];
        EXPECT_EQ(x, from[static_cast<std::size_t>(i * columns + j)]);
        all += std::abs(x);
      }
    }
    EXPECT_NEAR(sum, all, 1e-4) << "the rest is zero";
  }
}

TEST(Tiles, MultiplyFloats) { check_all<float>(); }
TEST(Tiles, MultiplyDoubles) { check_all<double>(); }

TEST(Split, CoversTheResultOnce) {
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(4);
  for (int count = 1; count <= 4; ++count) {
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{1, 300}, std::pair{300, 1}, std::pair{17, 33},
                               std::pair{0, 5}, std::pair{784, 128}}) {
      std::vector<int> covered(static_cast<std::size_t>(m * n));
      for (int i = 0; i < count; ++i) {
        const Split s =
            split(Worker(i, count, barrier, scratch), m, n, Tiles::row_grain<float>, Tiles::column_grain<float>);
        for (std::int64_t r = s.rows.from; r < s.rows.to; ++r) {
          for (std::int64_t c = s.columns.from; c < s.columns.to; ++c) ++covered[static_cast<std::size_t>(r * n + c)];
        }
      }
      for (int times : covered) ASSERT_EQ(times, 1);
    }
  }
}

}  // namespace tiles_test
}  // namespace crochet::kernel

// SPDX-License-Identifier: Apache-2.0
// Products by policies that round the operands of floats: operands in every layout, and what all of these policies
// keep.
#pragma once
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/tiles.hpp>

namespace crochet::kernel {

inline std::vector<float> numbers(std::int64_t n, std::uint32_t seed) {
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

/// The rows and columns of the product by a policy; all other elements are 9.
template <class Policy>
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
  Policy::multiply(ma, mb, s.k, rows, columns, worker, StoreTo<float>{c.data(), s.n});
  return c;
}

inline constexpr Size sizes[] = {{1, 1, 1},    {1, 17, 3},   {17, 1, 5},   {5, 33, 2},  {7, 31, 16}, {8, 64, 17},
                                 {13, 47, 33}, {67, 35, 19}, {70, 70, 65}, {3, 40, 12}, {9, 40, 1},  {24, 96, 70}};

template <class Use>
void each_layout(Use use) {
  for (const Size& s : sizes) {
    for (int choice = 0; choice < 8; ++choice) {
      use(s, Layouts{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0});
    }
  }
}

/// A part of the result that begins at multiples of the grains has the bits of the whole.
template <class Policy>
void test_parts() {
  each_layout([](const Size& s, const Layouts& l) {
    const auto whole = product<Policy>(s, l, {0, s.m}, {0, s.n});
    const std::int64_t row = s.m / 2 / Policy::template row_grain<float> * Policy::template row_grain<float>;
    const std::int64_t column = s.n / 2 / Policy::template column_grain<float> * Policy::template column_grain<float>;
    for (const auto& [rows, columns] :
         {std::pair{Range{0, row}, Range{0, s.n}}, std::pair{Range{row, s.m}, Range{0, s.n}},
          std::pair{Range{0, s.m}, Range{0, column}}, std::pair{Range{row, s.m}, Range{column, s.n}}}) {
      const auto part = product<Policy>(s, l, rows, columns);
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

/// Products of doubles are those of Tiles.
template <class Policy>
void test_doubles() {
  const std::vector<double> a(20 * 3, 1.0 / 3), b(3 * 20, 0.1);
  std::vector<double> c(20 * 20), expected(20 * 20);
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  const auto x = row_major(a.data(), 3), y = row_major(b.data(), 20);
  Policy::multiply(x, y, 3, {0, 20}, {0, 20}, worker, StoreTo<double>{c.data(), 20});
  Tiles::multiply(x, y, 3, {0, 20}, {0, 20}, worker, StoreTo<double>{expected.data(), 20});
  EXPECT_EQ(c, expected);
}

/// A caller's scratch memory in front of a product's own stays as it is.
template <class Policy>
void test_scratch_offset() {
  const Size s{13, 47, 33};
  const auto a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2);
  std::vector<float> c(static_cast<std::size_t>(s.m * s.n));
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  constexpr std::int64_t mine = 100;
  const std::int64_t all = mine + Policy::template scratch<float>(s.m, s.n, s.k);
  std::fill_n(worker.scratch<float>(all), mine, 5.0F);
  Policy::multiply(row_major(a.data(), s.k), row_major(b.data(), s.n), s.k, {0, s.m}, {0, s.n}, worker,
                   StoreTo<float>{c.data(), s.n}, mine);
  EXPECT_EQ(c, product<Policy>(s, {}, {0, s.m}, {0, s.n}));
  const float* const kept = worker.scratch<float>(all);
  EXPECT_EQ(std::count(kept, kept + mine, 5.0F), mine);
}

}  // namespace crochet::kernel

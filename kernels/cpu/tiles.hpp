// SPDX-License-Identifier: Apache-2.0
// Tiles: matrix products by vector extensions, without a library. A tile of the result stays in registers over the
// whole depth and goes through the epilogue from there; the right operand is read in panels of a tile's width.
#pragma once
#include <crochet/kernels/cpu/tiles/thin.hpp>
#include <crochet/kernels/cpu/tiles/tile.hpp>

namespace crochet::kernel {

class Tiles {
 public:
  /// The right operand may lie in panels.
  static constexpr bool packs = true;
  /// The granularity at which work should be split.
  template <class T>
  static constexpr std::int64_t row_grain = tile_rows<T>;
  template <class T>
  static constexpr std::int64_t column_grain = panel_width<T>;

  /// Elements of scratch memory that a product of this size uses.
  template <class T>
  static std::int64_t scratch(std::int64_t, std::int64_t, std::int64_t depth) {
    return panel_scratch<T>(depth);
  }

  template <class T, class Epilogue>
  static void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns, Worker& worker,
                       const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    if (rows.size() <= 0 || columns.size() <= 0) return;
    if (depth == 1 && !b.transposed() && b.panel == 0) return outer(a, b, rows, columns, epilogue);
    if (rows.size() == 1 && !b.transposed()) return one_row(a, b, depth, rows.from, columns, epilogue);
    if (rows.size() <= few && b.transposed() && !a.transposed()) return by_dots(a, b, depth, rows, columns, epilogue);
    T* const room = worker.scratch<T>(scratch_offset + panel_scratch<T>(depth)) + scratch_offset;
    constexpr std::int64_t width = panel_width<T>;
    for (std::int64_t j = columns.from; j < columns.to; j += width) {
      const std::int64_t n = columns.to - j < width ? columns.to - j : width;
      const Panel<T> panel = panel_of(b, depth, j, n, rows.size(), room);
      if (panel_vectors < T >> 1 && n <= simd::lanes) {
        edge_tiles<tile_rows<T>, 1>(a, panel, depth, rows, j, n, epilogue);
      } else {
        tiles_down<tile_rows<T>, panel_vectors<T>>(a, panel, depth, rows, j, n, epilogue);
      }
    }
  }

 private:
  /// Up to how many rows dot products are faster than turning the matrix.
  static constexpr std::int64_t few = 4;

  template <class T, class Epilogue>
  static void outer(Matrix<T> a, Matrix<T> b, Range rows, Range columns, const Epilogue& epilogue) {
    constexpr std::int64_t width = panel_width<T>;
    const T* left = a.at(0, 0);
    std::int64_t j = columns.from;
    for (; j + width <= columns.to; j += width) {
      column_by_row<panel_vectors<T>>(left, a.row, b.at(0, j), rows, j, epilogue);
    }
    if (j < columns.to) {
      column_by_short_row<panel_vectors<T>>(left, a.row, b.at(0, j), rows, j, columns.to - j, epilogue);
    }
  }

  template <class T, class Epilogue>
  static void one_row(Matrix<T> a, Matrix<T> b, std::int64_t depth, std::int64_t i, Range columns,
                      const Epilogue& epilogue) {
    constexpr std::int64_t width = panel_width<T>;
    constexpr int vectors = panel_vectors<T>;
    if (b.panel != 0 && columns.size() <= simd::lanes) {
      return row_by_panel(a.at(i, 0), a.column, Panel<T>{b.at(0, columns.from), b.row}, depth, i, columns.from,
                          columns.size(), epilogue);
    }
    const std::int64_t distance = b.panel != 0 ? b.panel : width;
    const auto panels = [&](auto count, std::int64_t j) {
      row_by_panels<decltype(count)::value, vectors>(a.at(i, 0), a.column, Panel<T>{b.at(0, j), b.row}, distance, depth,
                                                     i, j, columns.to - j, epilogue);
    };
    std::int64_t j = columns.from;
    // In panels the last one is filled up; in rows, reading on would leave the matrix.
    const std::int64_t end = b.panel != 0 && b.row == width ? columns.to : columns.to - width + 1;
    for (; j + 3 * width < end; j += 4 * width) panels(std::integral_constant<int, 4>{}, j);
    for (; j < end; j += width) panels(std::integral_constant<int, 1>{}, j);
    if (j < columns.to) narrow_row(a, b, depth, i, {j, columns.to}, epilogue);
  }
  /// The same for the columns that fill no panel.
  template <class T, class Epilogue>
  static void narrow_row(Matrix<T> a, Matrix<T> b, std::int64_t depth, std::int64_t i, Range columns,
                         const Epilogue& epilogue) {
    T sums[panel_width<T>] = {};
    const std::int64_t n = columns.size();
    for (std::int64_t k = 0; k < depth; ++k) {
      const T x = *a.at(i, k);
      const T* from = b.at(k, columns.from);
      for (std::int64_t c = 0; c < n; ++c) sums[c] += x * from[c];
    }
    epilogue.row(i, columns.from, n, sums);
  }

  template <class T, class Epilogue>
  static void by_dots(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns,
                      const Epilogue& epilogue) {
    constexpr std::int64_t lanes = simd::lanes, part = native_lanes<T>;
    T sums[lanes];
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      const T* left = a.at(i, 0);
      std::int64_t j = columns.from;
      for (; j + lanes <= columns.to; j += lanes) {
        for (std::int64_t c = 0; c < lanes; c += part) dots(left, b, depth, j + c, sums + c);
        simd::vec<T> v[1] = {simd::load<T, true>(sums)};
        epilogue.template vectors<1>(i, j, v);
      }
      for (; j < columns.to; ++j) {
        T sum{};
        for (std::int64_t k = 0; k < depth; ++k) sum += left[k] * *b.at(k, j);
        epilogue.row(i, j, 1, &sum);
      }
    }
  }
};

}  // namespace crochet::kernel

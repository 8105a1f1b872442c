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

  template <ProductPaths P = ProductPaths{}, class T, class Epilogue>
  static void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns, Worker& worker,
                       const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    if (rows.size() <= 0 || columns.size() <= 0) return;
    if constexpr (P.depth_of_one) {
      if (depth == 1 && !b.transposed() && b.panel == 0) return outer<P>(a, b, rows, columns, epilogue);
    }
    if constexpr (P.b_straight) {
      if (rows.size() == 1 && !b.transposed()) return one_row(a, b, depth, rows.from, columns, epilogue);
    }
    if constexpr (P.b_turned && P.a_straight) {
      if (rows.size() <= few && b.transposed() && !a.transposed()) return by_dots(a, b, depth, rows, columns, epilogue);
    }
    T* const room = worker.scratch<T>(scratch_offset + panel_scratch<T>(depth)) + scratch_offset;
    constexpr std::int64_t width = panel_width<T>;
    for (std::int64_t j = columns.from; j < columns.to; j += width) {
      const std::int64_t n = columns.to - j < width ? columns.to - j : width;
      const Panel<T> panel = panel_of(b, depth, j, n, rows.size(), room);
      Range left = rows;
      if constexpr (P.whole_panels) {
        if (n == width) left.from = full_tiles<tile_rows<T>, panel_vectors<T>, P>(a, panel, depth, rows, j, epilogue);
      }
      edge_tiles(a, panel, depth, left, j, n, epilogue);
    }
  }

 private:
  /// Up to how many rows dot products are faster than turning the matrix.
  static constexpr std::int64_t few = 4;

  template <ProductPaths P, class T, class Epilogue>
  static void outer(Matrix<T> a, Matrix<T> b, Range rows, Range columns, const Epilogue& epilogue) {
    constexpr std::int64_t width = panel_width<T>;
    const T* left = a.at(0, 0);
    std::int64_t j = columns.from;
    if constexpr (P.whole_panels) {
      for (; j + width <= columns.to; j += width) {
        column_by_row<panel_vectors<T>>(left, a.row, b.at(0, j), rows, j, epilogue);
      }
    }
    if constexpr (P.part_panels) {
      for (; j < columns.to; j += simd::lanes) {
        const std::int64_t n = columns.to - j < simd::lanes ? columns.to - j : simd::lanes;
        column_by_short_row(left, a.row, b.at(0, j), rows, j, n, epilogue);
      }
    }
  }

  template <class T, class Epilogue>
  static void one_row(Matrix<T> a, Matrix<T> b, std::int64_t depth, std::int64_t i, Range columns,
                      const Epilogue& epilogue) {
    T sums[row_stretch<T>];
    while (columns.size() > 0) {
      const std::int64_t n = row_sums(a, b, depth, i, columns, sums);
      epilogue.row(i, columns.from, n, sums);
      columns.from += n;
    }
  }

  template <class T, class Epilogue>
  static void by_dots(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns,
                      const Epilogue& epilogue) {
    T sums[row_stretch<T>];
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      for (std::int64_t j = columns.from; j < columns.to; j += row_stretch<T>) {
        const std::int64_t n = columns.to - j < row_stretch<T> ? columns.to - j : row_stretch<T>;
        dot_sums(a.at(i, 0), b, depth, j, n, sums);
        epilogue.row(i, j, n, sums);
      }
    }
  }
};

}  // namespace crochet::kernel

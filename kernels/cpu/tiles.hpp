// SPDX-License-Identifier: Apache-2.0
// Tiles: matrix products by vector extensions, without a library. A tile of the result stays in registers over the
// whole depth and goes through the epilogue from there. b is read in panels of a tile's width: in place, or, where that
// pays, copied (and transposed on the way) so that its rows lie side by side.
#pragma once
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet::kernel {

/// A tile's size, in rows and vectors, by how many registers there are: most of them hold the tile.
template <class T>
struct TileShape {
#if defined(__AVX512F__)
  static constexpr int rows = 8;
#else
  static constexpr int rows = sizeof(T) == 4 ? 6 : 3;
#endif
  static constexpr int vectors = sizeof(T) == 4 ? 2 : 1;
  static constexpr std::int64_t columns = vectors * simd::lanes;
};

class Tiles {
 public:
  /// The granularity at which work should be split.
  template <class T>
  static constexpr std::int64_t row_grain = TileShape<T>::rows;
  template <class T>
  static constexpr std::int64_t column_grain = TileShape<T>::columns;

  /// Elements of scratch memory that a product of this size uses.
  template <class T>
  static std::int64_t scratch(std::int64_t, std::int64_t, std::int64_t depth) {
    return depth * TileShape<T>::columns;
  }

  template <class T, class Epilogue>
  static void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns, Worker& worker,
                       const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    constexpr std::int64_t width = TileShape<T>::columns;
    if (rows.size() <= 0) return;
    for (std::int64_t j = columns.from; j < columns.to; j += width) {
      const std::int64_t n = columns.to - j < width ? columns.to - j : width;
      const Matrix<T> panel = panel_of(b, depth, j, n, rows.size(), worker, scratch_offset);
      down<TileShape<T>::rows>(a, panel, depth, rows, j, n, epilogue);
    }
  }

 private:
  /// From how many rows on a copy of the panel is paid for by its better access.
  static constexpr std::int64_t rows_worth_a_copy = 64;

  template <class T>
  static Matrix<T> panel_of(Matrix<T> b, std::int64_t depth, std::int64_t j, std::int64_t n, std::int64_t rows,
                            Worker& worker, std::int64_t scratch_offset) {
    constexpr std::int64_t width = TileShape<T>::columns;
    if (b.column == 1 && n == width && (rows < rows_worth_a_copy || b.row == width)) return {b.at(0, j), b.row, 1};
    T* panel = worker.scratch<T>(scratch_offset + depth * width) + scratch_offset;
    if (b.column == 1) {
      for (std::int64_t k = 0; k < depth; ++k) copy_row(b.at(k, j), n, panel + k * width);
    } else {
      transpose(b, depth, j, n, panel);
    }
    return {panel, width, 1};
  }

  template <class T>
  static void copy_row(const T* from, std::int64_t n, T* to) {
    constexpr std::int64_t width = TileShape<T>::columns;
    std::int64_t c = 0;
    for (; c < n; ++c) to[c] = from[c];
    for (; c < width; ++c) to[c] = T{};
  }
  /// Blocks of 16 by 16, so that neither side is walked with a long stride for long.
  template <class T>
  static void transpose(Matrix<T> b, std::int64_t depth, std::int64_t j, std::int64_t n, T* panel) {
    constexpr std::int64_t width = TileShape<T>::columns, block = 16;
    for (std::int64_t k0 = 0; k0 < depth; k0 += block) {
      const std::int64_t k1 = k0 + block < depth ? k0 + block : depth;
      for (std::int64_t c = 0; c < n; ++c) {
        const T* from = b.at(0, j + c);
        for (std::int64_t k = k0; k < k1; ++k) panel[k * width + c] = from[k];
      }
      for (std::int64_t k = k0; k < k1; ++k) {
        for (std::int64_t c = n; c < width; ++c) panel[k * width + c] = T{};
      }
    }
  }

  /// Full tiles, then the rows that remain, one size smaller at a time.
  template <int R, class T, class Epilogue>
  static void down(Matrix<T> a, Matrix<T> panel, std::int64_t depth, Range rows, std::int64_t j, std::int64_t n,
                   const Epilogue& epilogue) {
    std::int64_t i = rows.from;
    for (; i + R <= rows.to; i += R) tile<R>(a, panel, depth, i, j, n, epilogue);
    if constexpr (R > 1) {
      if (i < rows.to) down<(R > 4 ? R / 2 : 1)>(a, panel, depth, {i, rows.to}, j, n, epilogue);
    }
  }

  /// The product's tile is made by a function that knows nothing of the epilogue, so that all programs share its code;
  /// the way over the stack costs a few cycles a tile.
  template <int R, class T, class Epilogue>
  static void tile(Matrix<T> a, Matrix<T> panel, std::int64_t depth, std::int64_t i0, std::int64_t j, std::int64_t n,
                   const Epilogue& epilogue) {
    Block<R, T> c;
    make_block<R>(a.at(i0, 0), a.row, a.column, panel.data, panel.row, depth, c);
    const bool full = n == TileShape<T>::columns;
    for (int i = 0; i < R; ++i) {
      if (full) {
        epilogue.template vectors<TileShape<T>::vectors>(i0 + i, j, c.v[i]);
      } else {
        epilogue.row(i0 + i, j, n, reinterpret_cast<const T*>(c.v[i]));
      }
    }
  }

  template <int R, class T>
  struct Block {
    simd::vec<T> v[R][TileShape<T>::vectors];
  };

  template <int R, class T>
  [[gnu::noinline]] static void make_block(const T* a, std::int64_t row, std::int64_t column, const T* b,
                                           std::int64_t pitch, std::int64_t depth, Block<R, T>& out) {
    constexpr int width = TileShape<T>::vectors;
    simd::vec<T> c[R][width] = {};
    for (std::int64_t k = 0; k < depth; ++k, a += column, b += pitch) {
      simd::vec<T> bv[width];
      CROCHET_UNROLL
      for (int v = 0; v < width; ++v) bv[v] = simd::load<T, true>(b + v * simd::lanes);
      CROCHET_UNROLL
      for (int i = 0; i < R; ++i) {
        const simd::vec<T> x = simd::splat<T, true>(a[i * row]);
        CROCHET_UNROLL
        for (int v = 0; v < width; ++v) c[i][v] += x * bv[v];
      }
    }
    CROCHET_UNROLL
    for (int i = 0; i < R; ++i) {
      CROCHET_UNROLL
      for (int v = 0; v < width; ++v) out.v[i][v] = c[i][v];
    }
  }
};

}  // namespace crochet::kernel

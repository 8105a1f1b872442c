// SPDX-License-Identifier: Apache-2.0
// Register tiles: some rows of a by some vectors of a panel, over the whole depth. The sums are passed to the epilogue
// from registers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/panel.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The rows of a tile, by the number of machine registers: most of them hold the tile.
template <class T>
inline constexpr int tile_rows =
#if defined(__AVX512F__)
    8;
#elif defined(__aarch64__)  // 32 registers, too, of 16 bytes
    sizeof(T) == 4 ? 8 : 6;
#else
    sizeof(T) == 4 ? 6 : 3;
#endif

/// The machine registers of one row of a tile (U vectors). A vector of elements wider than float takes several.
template <class T, int U>
inline constexpr int registers_of = U* simd::lanes / native_lanes<T>;

namespace detail {
/// B: T or, for float, bfloat16.
template <int R, int U, class T, class B>
CROCHET_HOST_ALWAYS_INLINE void accumulate(const T* a, std::int64_t row, std::int64_t column, const B* b,
                                           std::int64_t pitch, std::int64_t depth, native<T> (&c)[R][U]) {
  CROCHET_UNROLL
  for (int i = 0; i < R; ++i) {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) c[i][u] = native<T>{};
  }
  for (std::int64_t k = 0; k < depth; ++k, a += column, b += pitch) {
    native<T> bv[U];
    load_row<T, U>(b, bv);
    CROCHET_UNROLL
    for (int i = 0; i < R; ++i) {
      const native<T> x = a[i * row] - native<T>{};
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) c[i][u] += x * bv[u];
    }
  }
}
}  // namespace detail

/// Computes tiles of R rows by U vectors of the panel that begins at column j; all its columns must exist. Returns the
/// first remaining row.
template <int R, int U, ProductPaths P, class T, class Epilogue>
std::int64_t full_tiles(const Matrix<T>& a, Panel<T> b, std::int64_t depth, Range rows, std::int64_t j,
                        const Epilogue& epilogue) {
  const Epilogue here = epilogue;  // a local copy, which no store can alias, stays in registers
  std::int64_t i = rows.from;
  for (; i + R <= rows.to; i += R) {
    constexpr int registers = registers_of<T, U>;
    detail::native<T> c[R][registers];
    // With a constant row stride of 1, the addresses in a column have constant offsets from one base.
    if (!P.a_straight || (P.a_turned && a.row == 1)) {
      detail::accumulate<R, registers>(a.at(i, 0), 1, a.column, b.data, b.pitch, depth, c);
    } else {
      detail::accumulate<R, registers>(a.at(i, 0), a.row, P.a_turned ? a.column : 1, b.data, b.pitch, depth, c);
    }
    CROCHET_UNROLL
    for (int r = 0; r < R; ++r) {
      if constexpr (registers == U) {
        here.template vectors<U>(i + r, j, c[r]);
      } else {
        simd::vec<T> wide[U];
        __builtin_memcpy(wide, c[r], sizeof wide);
        here.template vectors<U>(i + r, j, wide);
      }
    }
  }
  return i;
}

namespace detail {
/// Stores the sums of one tile in memory, in rows of a panel's width.
template <int R, int U, class T, class B>
[[gnu::noinline]] void tile_sums(const T* a, std::int64_t row, std::int64_t column, Panel<B> b, std::int64_t depth,
                                 T* sums) {
  constexpr int registers = registers_of<T, U>;
  detail::native<T> c[R][registers];
  detail::accumulate<R, registers>(a, row, column, b.data, b.pitch, depth, c);
  CROCHET_UNROLL
  for (int r = 0; r < R; ++r) put_in_order<B>(c[r]);
  for (int r = 0; r < R; ++r) __builtin_memcpy(sums + r * panel_width<T>, c[r], sizeof c[r]);
}
template <int R, class T, class B>
std::int64_t edge_sums(Matrix<T> a, Panel<B> b, std::int64_t depth, Range rows, std::int64_t n, T* sums) {
  if (rows.size() >= R || R == 1) {
    const T* from = a.at(rows.from, 0);
    if (n <= simd::lanes) {
      tile_sums<R, 1>(from, a.row, a.column, b, depth, sums);
    } else {
      tile_sums<R, panel_vectors<T>>(from, a.row, a.column, b, depth, sums);
    }
    return R;
  }
  return edge_sums<(R > 4 ? R / 2 : 1)>(a, b, depth, rows, n, sums);
}
/// Computes the sums of the tile at the top of the given rows; the fewer rows are left, the smaller the tile. Does not
/// depend on an epilogue, so all programs share it. Returns the number of rows.
template <class T, class B>
[[gnu::noinline]] std::int64_t edge_sums(Matrix<T> a, Panel<B> b, std::int64_t depth, Range rows, std::int64_t n,
                                         T* sums) {
  return edge_sums<tile_rows<T>>(a, b, depth, rows, n, sums);
}
}  // namespace detail

}  // namespace crochet::kernel::CROCHET_ISA

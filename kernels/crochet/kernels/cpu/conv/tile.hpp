// SPDX-License-Identifier: Apache-2.0
// The register tile of convolutions: some rows (positions, or elements of a filter) by a panel of channels, summed over
// a list of segments, each of which is a small matrix product. Both operands are read in place.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/words.hpp>
#include <crochet/kernels/cpu/tiles/panel.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The offset of row r of a tile: r * row elements, r elements, or rows[r].
enum class RowsAt : std::uint8_t { even, adjacent, table };

/// c[r][:] = sum over segments s and k < depth of left[offset of row r + left_at[s] + k * step] * panel[panel_at[s]
/// + k * pitch + :], where the product of two pairs is a sum of two products. With `half` there is a further k, of
/// whose pairs only the first numbers are multiplied.
struct Segments {
  const std::int64_t* left_at = nullptr;
  const std::int64_t* panel_at = nullptr;
  std::int64_t count = 0, depth = 0, step = 1, pitch = 0, row = 0;
  const std::int64_t* rows = nullptr;
  bool half = false;
};

/// The greatest height of a tile for which the registers suffice, next to two vectors of the panel and one of the left
/// operand.
#if defined(__AVX512F__)
inline constexpr int tallest_tile = 14;
#else
inline constexpr int tallest_tile = 6;
#endif

namespace detail {
template <RowsAt At>
CROCHET_ALWAYS_INLINE std::int64_t row_of(const Segments& s, std::int64_t r) {
  if constexpr (At == RowsAt::table) return s.rows[r];
  return At == RowsAt::adjacent ? r : r * s.row;
}

/// Adds a step of a segment to the sums of R rows. Half: of pairs of the left operand only their first numbers, because
/// the second ones, which zeros of the panel would multiply, may be NaN.
template <int R, int N, RowsAt At, bool Half, class Word>
CROCHET_ALWAYS_INLINE void add_step(const Word* a, const Word* b, const Segments& s, native<sum_of<Word>> (&c)[R][N]) {
  using V = native<Word>;
  V v[N];
  CROCHET_UNROLL
  for (int n = 0; n < N; ++n) __builtin_memcpy(&v[n], b + n * native_lanes<Word>, sizeof(V));
  CROCHET_UNROLL
  for (int r = 0; r < R; ++r) {
    V x = a[row_of<At>(s, r)] - V{};
    if constexpr (Half) x &= first_of_pair;
    CROCHET_UNROLL
    for (int n = 0; n < N; ++n) add_product(c[r][n], x, v[n]);
  }
}

template <int R, int N, RowsAt At, class Word>
[[gnu::noinline]] void convolution_tile(const Word* left, const Word* panel, const Segments& s, sum_of<Word>* out,
                                        std::int64_t out_pitch) {
  using V = native<sum_of<Word>>;
  V c[R][N] = {};
  for (std::int64_t segment = 0; segment < s.count; ++segment) {
    const Word* a = left + s.left_at[segment];
    const Word* b = panel + s.panel_at[segment];
    for (std::int64_t k = 0; k < s.depth; ++k, a += s.step, b += s.pitch) add_step<R, N, At, false>(a, b, s, c);
    if constexpr (std::is_same_v<Word, Bfloat16Pair>) {
      if (s.half) add_step<R, N, At, true>(a, b, s, c);
    }
  }
  CROCHET_UNROLL
  for (int r = 0; r < R; ++r) {
    CROCHET_UNROLL
    for (int n = 0; n < N; ++n) __builtin_memcpy(out + r * out_pitch + n * native_lanes<Word>, &c[r][n], sizeof(V));
  }
}

/// The height of the next tile when n rows are left. Small tiles are limited by the latency of their sums, so several
/// medium tiles that fit exactly are preferred to tall ones and a small remainder.
inline int next_height(std::int64_t n) {
#if defined(__AVX512F__)
  constexpr int heights[] = {14, 8, 7, 4, 3, 2}, middling = 8;
#else
  constexpr int heights[] = {6, 4, 3, 2}, middling = 4;
#endif
  constexpr int scrap = 3;
  const std::int64_t over = n % tallest_tile;
  if (n > tallest_tile && over != 0 && (n % middling == 0 || over < scrap)) return middling;
  for (int h : heights) {
    if (n >= h) return h;
  }
  return 1;
}

template <int N, RowsAt At, class Word>
void convolution_tile(int height, const Word* left, const Word* panel, const Segments& s, sum_of<Word>* out,
                      std::int64_t pitch) {
  switch (height) {
#if defined(__AVX512F__)
    case 14:
      return convolution_tile<14, N, At>(left, panel, s, out, pitch);
    case 8:
      return convolution_tile<8, N, At>(left, panel, s, out, pitch);
    case 7:
      return convolution_tile<7, N, At>(left, panel, s, out, pitch);
#else
    case 6:
      return convolution_tile<6, N, At>(left, panel, s, out, pitch);
#endif
    case 4:
      return convolution_tile<4, N, At>(left, panel, s, out, pitch);
    case 3:
      return convolution_tile<3, N, At>(left, panel, s, out, pitch);
    case 2:
      return convolution_tile<2, N, At>(left, panel, s, out, pitch);
    default:
      return convolution_tile<1, N, At>(left, panel, s, out, pitch);
  }
}
}  // namespace detail

/// Computes n rows by N registers of a panel, tile by tile. where(first row) returns the destination of a tile: a
/// pointer and the distance of rows. Then calls use(first row, rows, pointer, distance).
template <int N, RowsAt At, class Word, class Where, class Use>
CROCHET_ALWAYS_INLINE void convolution_rows(std::int64_t n, const Word* left, const Word* panel, Segments s,
                                            Where where, Use use) {
  const std::int64_t* const table = s.rows;
  for (std::int64_t r = 0; r < n;) {
    const int height = detail::next_height(n - r);
    const auto [out, pitch] = where(r);
    const Word* first = left;
    if constexpr (At == RowsAt::table) {
      s.rows = table + r;
    } else {
      first += detail::row_of<At>(s, r);
    }
    detail::convolution_tile<N, At>(height, first, panel, s, out, pitch);
    use(r, height, out, pitch);
    r += height;
  }
}

/// Adds n rows by N registers of a panel to `sums`, whose rows are panel_width apart.
template <int N, RowsAt At, class T, class Word>
CROCHET_ALWAYS_INLINE void add_convolution_rows(std::int64_t n, const Word* left, const Word* panel, const Segments& s,
                                                T* sums) {
  using V = detail::native<T>;
  constexpr std::int64_t width = N * native_lanes<T>;
  struct Rows {
    T* data;
    std::int64_t pitch;
  };
  alignas(64) T block[tallest_tile * width];
  convolution_rows<N, At>(
      n, left, panel, s,
      [&](std::int64_t) {
        return Rows{block, width};
      },
      [&](std::int64_t r, int height, T*, std::int64_t) {
        for (int i = 0; i < height; ++i) {
          CROCHET_UNROLL
          for (std::int64_t u = 0; u < width; u += native_lanes<T>) {
            T* to = sums + (r + i) * panel_width<T> + u;
            V old, more;
            __builtin_memcpy(&old, to, sizeof(V));
            __builtin_memcpy(&more, block + i * width + u, sizeof(V));
            old += more;
            __builtin_memcpy(to, &old, sizeof(V));
          }
        }
      });
}

/// Passes one row of a tile, N registers of which the first `width` elements exist, to the epilogue for (row, j), ...
template <int N, class T, class Epilogue>
CROCHET_ALWAYS_INLINE void pass_row(const Epilogue& epilogue, std::int64_t row, std::int64_t j, std::int64_t width,
                                    const T* values) {
  constexpr int vectors = N * native_lanes<T> / simd::lanes;
  if constexpr (vectors > 0) {
    if (width == N * native_lanes<T>) {
      simd::vec<T> v[vectors];
      __builtin_memcpy(v, values, sizeof v);
      return epilogue.template vectors<vectors>(row, j, v);
    }
  }
  epilogue.row(row, j, width, values);
}

}  // namespace crochet::kernel::CROCHET_ISA

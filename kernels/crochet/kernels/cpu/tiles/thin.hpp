// SPDX-License-Identifier: Apache-2.0
// Products without tiles: one row by a matrix, a column by a row, and few rows by a transposed matrix. Their speed is
// limited by reading the matrix from memory.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/panel.hpp>
#include <crochet/kernels/simd_part.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The sums of one row times `P` panels, `distance` apart: enough at a time to hide the latency of additions. As all
/// sums of one row they are passed to the epilogue through memory, so that all programs share this code. B: T or, for
/// float, bfloat16.
template <int P, int U, class T, class B>
[[gnu::noinline]] void row_by_panels(const T* a, std::int64_t step, Panel<B> b, std::int64_t distance,
                                     std::int64_t depth, T* sums) {
  simd::vec<T> c[P][U] = {};
  const B* from = b.data;
  for (std::int64_t k = 0; k < depth; ++k, a += step, from += b.pitch) {
    const simd::vec<T> x = simd::splat<T, true>(*a);
    CROCHET_UNROLL
    for (int p = 0; p < P; ++p) {
      if constexpr (std::is_same_v<T, B>) {
        CROCHET_UNROLL
        for (int u = 0; u < U; ++u) c[p][u] += x * simd::load<T, true>(from + p * distance + u * simd::lanes);
      } else {
        detail::native<T> row[U];
        load_row<T, U>(from + p * distance, row);
        CROCHET_UNROLL
        for (int u = 0; u < U; ++u) c[p][u] += x * row[u];
      }
    }
  }
  CROCHET_UNROLL
  for (int p = 0; p < P; ++p) put_in_order<B>(c[p]);
  __builtin_memcpy(sums, c, sizeof c);
}

/// As above, for one narrow panel: four sums, each over every fourth row, hide the latency.
template <class T, class B>
[[gnu::noinline]] void row_by_panel(const T* a, std::int64_t step, Panel<B> b, std::int64_t depth, T* sums) {
  constexpr int many = 4;
  simd::vec<T> c[many] = {};
  std::int64_t k = 0;
  for (; k + many <= depth; k += many) {
    CROCHET_UNROLL
    for (int q = 0; q < many; ++q) {
      c[q] += simd::splat<T, true>(a[(k + q) * step]) * load_as<T>(b.data + (k + q) * b.pitch);
    }
  }
  for (; k < depth; ++k) c[0] += simd::splat<T, true>(a[k * step]) * load_as<T>(b.data + k * b.pitch);
  c[0] = (c[0] + c[1]) + (c[2] + c[3]);
  __builtin_memcpy(sums, c, sizeof c[0]);
}

/// As above, for columns that do not fill a panel and must not be read past their end.
template <class T, class B>
[[gnu::noinline]] void row_by_columns(const T* a, std::int64_t step, const B* b, std::int64_t pitch, std::int64_t depth,
                                      std::int64_t n, T* sums) {
  for (std::int64_t c = 0; c < n; ++c) sums[c] = T{};
  for (std::int64_t k = 0; k < depth; ++k, a += step, b += pitch) {
    for (std::int64_t c = 0; c < n; ++c) sums[c] += *a * b[c];
  }
}

/// The number of columns of one row computed before they are passed to the epilogue.
template <class T>
inline constexpr std::int64_t row_stretch = 4 * panel_width<T>;

/// Computes the sums of the first of `columns` of row i, which lie within a stretch. Returns their number. A column's
/// order of summation follows from its place in the matrix: the columns are at most a vector only where the matrix
/// ends.
template <class T, class B>
[[gnu::noinline]] std::int64_t row_sums(Matrix<T> a, Matrix<B> b, std::int64_t depth, std::int64_t i, Range columns,
                                        T* sums) {
  constexpr std::int64_t width = panel_width<T>;
  constexpr int vectors = panel_vectors<T>;
  const std::int64_t left = columns.size(), distance = b.panel != 0 ? b.panel : width;
  const Panel<B> panel{b.at(0, columns.from), b.row};
  const T* row = a.at(i, 0);
  // Only at the start of a stretch: at its end they would be summed together with the others.
  if (b.panel != 0 && left <= simd::lanes && columns.from % row_stretch<T> == 0) {
    row_by_panel(row, a.column, panel, depth, sums);
    return left;
  }
  // The last panel is padded, so it may be read past `left`. In row-major order that would leave the matrix.
  const bool filled = b.panel != 0 && b.row == width;
  if (left >= 4 * width || (filled && left > 3 * width)) {
    row_by_panels<4, vectors>(row, a.column, panel, distance, depth, sums);
    return left < 4 * width ? left : 4 * width;
  }
  if (left >= 2 * width || (filled && left > width)) {
    row_by_panels<2, vectors>(row, a.column, panel, distance, depth, sums);
    return left < 2 * width ? left : 2 * width;
  }
  if (left >= width || filled) {
    row_by_panels<1, vectors>(row, a.column, panel, distance, depth, sums);
    return left < width ? left : width;
  }
  row_by_columns(row, a.column, panel.data, b.row, depth, left, sums);
  return left;
}

/// A column times a row of n columns, at most one vector.
template <class T, class Epilogue>
[[gnu::noinline]] void column_by_short_row(const T* a, std::int64_t step, const T* b, Range rows, std::int64_t j,
                                           std::int64_t n, const Epilogue& epilogue) {
  simd::vec<T> bv{};
  __builtin_memcpy(&bv, b, static_cast<std::size_t>(n) * sizeof(T));
  const Epilogue here = epilogue;
  for (std::int64_t i = rows.from; i < rows.to; ++i) {
    const simd::vec<T> c = simd::splat<T, true>(a[i * step]) * bv;
    if constexpr (requires { here.part(i, j, n, c); }) {
      here.part(i, j, n, c);
    } else {
      here.row(i, j, n, reinterpret_cast<const T*>(&c));
    }
  }
}

/// A column times a row: the result is computed and passed on as a stream.
template <int U, class T, class Epilogue>
[[gnu::noinline]] void column_by_row(const T* a, std::int64_t step, const T* b, Range rows, std::int64_t j,
                                     const Epilogue& epilogue) {
  simd::vec<T> bv[U];
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) bv[u] = simd::load<T, true>(b + u * simd::lanes);
  const Epilogue here = epilogue;  // a local copy, which no store can alias, stays in registers
  for (std::int64_t i = rows.from; i < rows.to; ++i) {
    const simd::vec<T> x = simd::splat<T, true>(a[i * step]);
    simd::vec<T> c[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) c[u] = x * bv[u];
    here.template vectors<U>(i, j, c);
  }
}

/// One row times the transpose of native_lanes stored rows: native_lanes dot products. The row is contiguous.
template <class T, class B>
CROCHET_HOST_ALWAYS_INLINE void dots(const T* a, Matrix<B> b, std::int64_t depth, std::int64_t j, T* out) {
  constexpr std::int64_t lanes = native_lanes<T>;
  using V = detail::native<T>;
  V sum[lanes] = {};
  const std::int64_t whole = depth / lanes * lanes;
  const std::int64_t end = b.panel != 0 ? depth : whole;  // in panels the stored rows are padded with zeros
  for (std::int64_t k = 0; k < end; k += lanes) {
    V x;
    if (k < whole) {
      __builtin_memcpy(&x, a + k, sizeof x);
    } else {
      x = simd::read_first<T, native_lanes<T>>(a + k, depth - k);
    }
    const B* from = b.at(k, j);
    CROCHET_UNROLL
    for (int c = 0; c < lanes; ++c) sum[c] += x * load_native_as<T>(from + c * b.column);
  }
  V total = sums_of_each<T>(sum);
  for (std::int64_t k = end; k < depth; ++k) {
    const B* from = b.at(k, j);
    CROCHET_SHORT_LOOP
    for (int c = 0; c < lanes; ++c) total[c] += a[k] * from[c * b.column];
  }
  __builtin_memcpy(out, &total, sizeof total);
}

/// As above, for n columns, at most row_stretch.
template <class T, class B>
[[gnu::noinline]] void dot_sums(const T* a, Matrix<B> b, std::int64_t depth, std::int64_t j, std::int64_t n, T* sums) {
  constexpr std::int64_t part = native_lanes<T>;
  std::int64_t c = 0;
  for (; c + part <= n; c += part) dots(a, b, depth, j + c, sums + c);
  for (; c < n; ++c) {
    T sum{};
    CROCHET_SHORT_LOOP
    for (std::int64_t k = 0; k < depth; ++k) sum += a[k] * *b.at(k, j + c);
    sums[c] = sum;
  }
}

}  // namespace crochet::kernel::CROCHET_ISA

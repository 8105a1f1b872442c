// SPDX-License-Identifier: Apache-2.0
// Products that no tile fits: one row by a matrix, a column by a row, and few rows by a transposed matrix. They run at
// the speed at which the matrix comes from memory.
#pragma once
#include <crochet/kernels/cpu/tiles/panel.hpp>

namespace crochet::kernel {

namespace detail {
/// Hands over the first n columns of a row of vectors.
template <int U, class T, class Epilogue>
CROCHET_HOST_ALWAYS_INLINE void hand_over(const Epilogue& epilogue, std::int64_t i, std::int64_t j, std::int64_t n,
                                          const simd::vec<T> (&c)[U]) {
  if constexpr (requires { epilogue.part(i, j, n, c[0]); }) {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u, j += simd::lanes, n -= simd::lanes) {
      if (n >= simd::lanes) {
        epilogue.template vectors<1>(i, j, c + u);
      } else if (n > 0) {
        epilogue.part(i, j, n, c[u]);
      }
    }
  } else {
    epilogue.row(i, j, n, reinterpret_cast<const T*>(c));
  }
}
}  // namespace detail

/// One row times `P` panels, `distance` apart: enough sums at once to hide the latency of adding.
template <int P, int U, class T, class Epilogue>
[[gnu::noinline]] void row_by_panels(const T* a, std::int64_t step, Panel<T> b, std::int64_t distance,
                                     std::int64_t depth, std::int64_t i, std::int64_t j, std::int64_t n,
                                     const Epilogue& epilogue) {
  simd::vec<T> c[P][U] = {};
  const T* from = b.data;
  for (std::int64_t k = 0; k < depth; ++k, a += step, from += b.pitch) {
    const simd::vec<T> x = simd::splat<T, true>(*a);
    CROCHET_UNROLL
    for (int p = 0; p < P; ++p) {
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) c[p][u] += x * simd::load<T, true>(from + p * distance + u * simd::lanes);
    }
  }
  constexpr std::int64_t width = U * simd::lanes;
  CROCHET_UNROLL
  for (int p = 0; p < P; ++p, n -= width) {
    if (n >= width) {
      epilogue.template vectors<U>(i, j + p * width, c[p]);
    } else {
      epilogue.row(i, j + p * width, n, reinterpret_cast<const T*>(c[p]));
    }
  }
}

/// The same for one narrow panel: sums over every fourth row hide the latency.
template <class T, class Epilogue>
[[gnu::noinline]] void row_by_panel(const T* a, std::int64_t step, Panel<T> b, std::int64_t depth, std::int64_t i,
                                    std::int64_t j, std::int64_t n, const Epilogue& epilogue) {
  constexpr int many = 4;
  simd::vec<T> c[many] = {};
  std::int64_t k = 0;
  for (; k + many <= depth; k += many) {
    CROCHET_UNROLL
    for (int q = 0; q < many; ++q) {
      c[q] += simd::splat<T, true>(a[(k + q) * step]) * simd::load<T, true>(b.data + (k + q) * b.pitch);
    }
  }
  for (; k < depth; ++k) c[0] += simd::splat<T, true>(a[k * step]) * simd::load<T, true>(b.data + k * b.pitch);
  c[0] = (c[0] + c[1]) + (c[2] + c[3]);
  if (n == simd::lanes) {
    epilogue.template vectors<1>(i, j, c);
  } else {
    epilogue.row(i, j, n, reinterpret_cast<const T*>(c));
  }
}

/// A column times a row of n columns, which fill no panel.
template <int U, class T, class Epilogue>
[[gnu::noinline]] void column_by_short_row(const T* a, std::int64_t step, const T* b, Range rows, std::int64_t j,
                                           std::int64_t n, const Epilogue& epilogue) {
  simd::vec<T> bv[U] = {};
  for (std::int64_t c = 0; c < n; ++c) bv[c / simd::lanes][c % simd::lanes] = b[c];
  const Epilogue here = epilogue;
  for (std::int64_t i = rows.from; i < rows.to; ++i) {
    const simd::vec<T> x = simd::splat<T, true>(a[i * step]);
    simd::vec<T> c[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) c[u] = x * bv[u];
    detail::hand_over<U, T>(here, i, j, n, c);
  }
}

/// A column times a row: the result is made, and used, as a stream.
template <int U, class T, class Epilogue>
[[gnu::noinline]] void column_by_row(const T* a, std::int64_t step, const T* b, Range rows, std::int64_t j,
                                     const Epilogue& epilogue) {
  simd::vec<T> bv[U];
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) bv[u] = simd::load<T, true>(b + u * simd::lanes);
  for (std::int64_t i = rows.from; i < rows.to; ++i) {
    const simd::vec<T> x = simd::splat<T, true>(a[i * step]);
    simd::vec<T> c[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) c[u] = x * bv[u];
    epilogue.template vectors<U>(i, j, c);
  }
}

/// One row times the transpose of native_lanes stored rows: as many dot products. The row is contiguous.
template <class T>
CROCHET_ALWAYS_INLINE void dots(const T* a, Matrix<T> b, std::int64_t depth, std::int64_t j, T* out) {
  constexpr std::int64_t lanes = native_lanes<T>;
  using V = detail::native<T>;
  V sum[lanes] = {};
  std::int64_t k = 0;
  for (; k + lanes <= depth; k += lanes) {
    V x;
    __builtin_memcpy(&x, a + k, sizeof x);
    const T* from = b.at(k, j);
    CROCHET_UNROLL
    for (int c = 0; c < lanes; ++c) {
      V y;
      __builtin_memcpy(&y, from + c * b.column, sizeof y);
      sum[c] += x * y;
    }
  }
  if (k < depth && b.panel != 0) {  // the stored rows are filled up with zeros
    V x{};
    for (std::int64_t rest = k; rest < depth; ++rest) x[rest - k] = a[rest];
    const T* from = b.at(k, j);
    CROCHET_UNROLL
    for (int c = 0; c < lanes; ++c) {
      V y;
      __builtin_memcpy(&y, from + c * b.column, sizeof y);
      sum[c] += x * y;
    }
    k = depth;
  }
  V total = sums_of_each<T>(sum);
  for (; k < depth; ++k) {
    const T* from = b.at(k, j);
    for (int c = 0; c < lanes; ++c) total[c] += a[k] * from[c * b.column];
  }
  __builtin_memcpy(out, &total, sizeof total);
}

}  // namespace crochet::kernel

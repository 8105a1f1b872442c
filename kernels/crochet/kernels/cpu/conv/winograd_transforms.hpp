// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolutions: of tiles of pixels, windows and tiles of sums, and of upstream gradients
// and gradients of windows.
#pragma once
#include <crochet/kernels/cpu/conv/winograd_dimension.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::winograd {

/// The number of pixels along an edge of a tile, and of the points of a transformed tile or window.
template <int Side>
inline constexpr int edge = Side + 2;
template <int Side>
inline constexpr int points = edge<Side>* edge<Side>;

/// The distance of the points of a panel of transformed windows. It is no power of two, so that they do not compete for
/// the same places of the cache.
template <class T>
constexpr std::int64_t window_pitch(std::int64_t channels) {
  return channels * panel_width<T> + simd::lanes;
}

/// Transforms one vector of windows; tap t is at from[t * pitch]. Point p goes to to[p * distance].
template <int Side, class How, class T>
CROCHET_ALWAYS_INLINE void transform_windows(const T* from, std::int64_t pitch, How how, T* to, std::int64_t distance) {
  using V = simd::vec<T>;
  constexpr int n = edge<Side>;
  V g[9], columns[3 * n];
  CROCHET_UNROLL
  for (int tap = 0; tap < 9; ++tap) g[tap] = simd::load(from + tap * pitch, how, T{});
  CROCHET_UNROLL
  for (int x = 0; x < 3; ++x) Dimension<Side>::template window<T>(g + x, columns + x, 3);
  CROCHET_UNROLL
  for (int y = 0; y < n; ++y) {
    V row[n];
    Dimension<Side>::template window<T>(columns + 3 * y, row, 1);
    CROCHET_UNROLL
    for (int x = 0; x < n; ++x) simd::store(to + (y * n + x) * distance, row[x]);
  }
}
/// Transforms the windows of one panel of filters, columns [j, j + n) of `filter` [9 * channels, filters], to matrices
/// [channels, panel_width], one for each point, window_pitch apart, padded with zeros.
template <int Side, class T>
[[gnu::noinline]] void transform_panel(const Matrix<T>& filter, std::int64_t channels, std::int64_t j, std::int64_t n,
                                       T* to) {
  const std::int64_t tap = channels * filter.row, distance = window_pitch<T>(channels);
  for (std::int64_t u = 0; u < panel_width<T>; u += simd::lanes) {
    const T* from = filter.at(0, u < n ? j + u : j);
    for (std::int64_t c = 0; c < channels; ++c, from += filter.row) {
      T* const at = to + c * panel_width<T> + u;
      if (n - u >= simd::lanes) {
        transform_windows<Side>(from, tap, simd::Whole{}, at, distance);
      } else {
        transform_windows<Side>(from, tap, simd::First{n < u ? 0 : n - u}, at, distance);
      }
    }
  }
}

/// Transforms one tile of an image with rows `pitch` elements apart. Point p of channel c goes to
/// to[p * distance + c]. `channels` is a multiple of native_lanes.
template <int Side, class T>
[[gnu::noinline]] void transform_pixels(const T* from, std::int64_t pitch, std::int64_t channels, T* to,
                                        std::int64_t distance) {
  using V = detail::native<T>;
  constexpr int n = edge<Side>;
  for (std::int64_t c = 0; c < channels; c += native_lanes<T>) {
    V columns[points<Side>];
    CROCHET_UNROLL
    for (int x = 0; x < n; ++x) {
      V d[n], column[n];
      CROCHET_UNROLL
      for (int y = 0; y < n; ++y) __builtin_memcpy(&d[y], from + y * pitch + x * channels + c, sizeof(V));
      Dimension<Side>::pixels(d, column, 1);
      CROCHET_UNROLL
      for (int y = 0; y < n; ++y) columns[y * n + x] = column[y];
    }
    CROCHET_UNROLL
    for (int y = 0; y < n; ++y) {
      V row[n];
      Dimension<Side>::pixels(columns + y * n, row, 1);
      CROCHET_UNROLL
      for (int x = 0; x < n; ++x) __builtin_memcpy(to + (y * n + x) * distance + c, &row[x], sizeof(V));
    }
  }
}

/// Transforms the sums of one tile back, N registers at each point. Point p is at from[p * distance]; result (y, x)
/// goes to to[(Side * y + x) * N * native_lanes].
template <int Side, int N, class T>
[[gnu::noinline]] void transform_sums(const T* from, std::int64_t distance, T* to) {
  using V = detail::native<T>;
  constexpr int n = edge<Side>;
  constexpr std::int64_t width = N * native_lanes<T>;
  CROCHET_UNROLL
  for (std::int64_t u = 0; u < width; u += native_lanes<T>) {
    V rows[Side * n];
    CROCHET_UNROLL
    for (int x = 0; x < n; ++x) {
      V m[n], column[Side];
      CROCHET_UNROLL
      for (int y = 0; y < n; ++y) __builtin_memcpy(&m[y], from + (y * n + x) * distance + u, sizeof(V));
      Dimension<Side>::template sums<T>(m, column, 1);
      CROCHET_UNROLL
      for (int y = 0; y < Side; ++y) rows[y * n + x] = column[y];
    }
    CROCHET_UNROLL
    for (int y = 0; y < Side; ++y) {
      V row[Side];
      Dimension<Side>::template sums<T>(rows + y * n, row, 1);
      CROCHET_UNROLL
      for (int x = 0; x < Side; ++x) __builtin_memcpy(to + (Side * y + x) * width + u, &row[x], sizeof(V));
    }
  }
}

/// Transforms a tile of upstream gradients, N registers at each place: `rows` by `columns` of the Side by Side places
/// exist, the others are zeros. Place (y, x) is at from[y * row + x * column]; point p goes to to[p * distance].
template <int Side, int N, class T>
[[gnu::noinline]] void transform_upstream(const T* from, std::int64_t row, std::int64_t column, std::int64_t rows,
                                          std::int64_t columns, T* to, std::int64_t distance) {
  using V = detail::native<T>;
  constexpr int n = edge<Side>;
  CROCHET_UNROLL
  for (std::int64_t u = 0; u < N * native_lanes<T>; u += native_lanes<T>) {
    V tall[n * Side];
    CROCHET_UNROLL
    for (int x = 0; x < Side; ++x) {
      V place[Side], points[n];
      CROCHET_UNROLL
      for (int y = 0; y < Side; ++y) {
        place[y] = V{};
        if (y < rows && x < columns) __builtin_memcpy(&place[y], from + y * row + x * column + u, sizeof(V));
      }
      Dimension<Side>::template upstream<T>(place, points, 1);
      CROCHET_UNROLL
      for (int y = 0; y < n; ++y) tall[y * Side + x] = points[y];
    }
    CROCHET_UNROLL
    for (int y = 0; y < n; ++y) {
      V points[n];
      Dimension<Side>::template upstream<T>(tall + y * Side, points, 1);
      CROCHET_UNROLL
      for (int x = 0; x < n; ++x) __builtin_memcpy(to + (y * n + x) * distance + u, &points[x], sizeof(V));
    }
  }
}

/// Transforms the sums of one channel back to the gradient of its window, N registers at each point. Point p is at
/// from[p * distance]; tap t goes to to[t * tap].
template <int Side, int N, class T>
CROCHET_ALWAYS_INLINE void transform_gradient(const T* from, std::int64_t distance, T* to, std::int64_t tap) {
  using V = detail::native<T>;
  constexpr int n = edge<Side>;
  CROCHET_UNROLL
  for (std::int64_t u = 0; u < N * native_lanes<T>; u += native_lanes<T>) {
    V rows[3 * n];
    CROCHET_UNROLL
    for (int x = 0; x < n; ++x) {
      V m[n], column[3];
      CROCHET_UNROLL
      for (int y = 0; y < n; ++y) __builtin_memcpy(&m[y], from + (y * n + x) * distance + u, sizeof(V));
      Dimension<Side>::template gradient<T>(m, column, 1);
      CROCHET_UNROLL
      for (int y = 0; y < 3; ++y) rows[y * n + x] = column[y];
    }
    CROCHET_UNROLL
    for (int y = 0; y < 3; ++y) {
      V taps[3];
      Dimension<Side>::template gradient<T>(rows + y * n, taps, 1);
      CROCHET_UNROLL
      for (int x = 0; x < 3; ++x) __builtin_memcpy(to + (3 * y + x) * tap + u, &taps[x], sizeof(V));
    }
  }
}

}  // namespace crochet::kernel::winograd

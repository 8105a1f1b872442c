// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolutions: of tiles of pixels, windows and tiles of sums, and of upstream gradients
// and gradients of windows.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/winograd_dimension.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::CROCHET_ISA::winograd {

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

/// A vector from memory.
template <class V, class T>
CROCHET_ALWAYS_INLINE V read(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
/// Transforms both dimensions of a tile of In x In vectors to Out x Out: its columns, then its rows, by
/// along(In vectors, Out vectors). load(y, x) returns a vector of the tile, store(y, x, vector) receives one of the
/// result.
template <class V, int In, int Out, class Along, class Load, class Store>
CROCHET_ALWAYS_INLINE void transform_tile(Along along, Load load, Store store) {
  V columns[Out * In];
  CROCHET_UNROLL
  for (int x = 0; x < In; ++x) {
    V from[In], to[Out];
    CROCHET_UNROLL
    for (int y = 0; y < In; ++y) from[y] = load(y, x);
    along(from, to);
    CROCHET_UNROLL
    for (int y = 0; y < Out; ++y) columns[y * In + x] = to[y];
  }
  CROCHET_UNROLL
  for (int y = 0; y < Out; ++y) {
    V to[Out];
    along(columns + y * In, to);
    CROCHET_UNROLL
    for (int x = 0; x < Out; ++x) store(y, x, to[x]);
  }
}

/// Transforms one vector of windows; tap t is at from[t * pitch]. Point p goes to to[p * distance].
template <int Side, class How, class T>
CROCHET_ALWAYS_INLINE void transform_windows(const T* from, std::int64_t pitch, How how, T* to, std::int64_t distance) {
  using V = simd::vec<T>;
  constexpr int n = edge<Side>;
  transform_tile<V, 3, n>([](const V* g, V* points) { Dimension<Side>::template window<T>(g, points); },
                          [&](int y, int x) { return simd::load(from + (3 * y + x) * pitch, how, T{}); },
                          [&](int y, int x, const V& v) { simd::store(to + (y * n + x) * distance, v); });
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
    transform_tile<V, n, n>([](const V* d, V* points) { Dimension<Side>::pixels(d, points); },
                            [&](int y, int x) { return read<V>(from + y * pitch + x * channels + c); },
                            [&](int y, int x, const V& v) { simd::store(to + (y * n + x) * distance + c, v); });
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
    transform_tile<V, n, Side>([](const V* m, V* results) { Dimension<Side>::template sums<T>(m, results); },
                               [&](int y, int x) { return read<V>(from + (y * n + x) * distance + u); },
                               [&](int y, int x, const V& v) { simd::store(to + (Side * y + x) * width + u, v); });
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
    const auto place = [&](int y, int x) {
      return y < rows && x < columns ? read<V>(from + y * row + x * column + u) : V{};
    };
    transform_tile<V, Side, n>([](const V* up, V* points) { Dimension<Side>::template upstream<T>(up, points); }, place,
                               [&](int y, int x, const V& v) { simd::store(to + (y * n + x) * distance + u, v); });
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
    transform_tile<V, n, 3>([](const V* m, V* taps) { Dimension<Side>::template gradient<T>(m, taps); },
                            [&](int y, int x) { return read<V>(from + (y * n + x) * distance + u); },
                            [&](int y, int x, const V& v) { simd::store(to + (3 * y + x) * tap + u, v); });
  }
}

}  // namespace crochet::kernel::CROCHET_ISA::winograd

// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution F(2x2, 3x3): windows of 3x3 pixels with stride 1, two by two results at a time. A tile of 4x4
// pixels and a window are transformed to 16 numbers each; a result needs 4 products for each pair of channels in place
// of 9. The rounding errors differ from those of a sum of products; they are not larger (docs/architecture.md).
// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, section 4.1.
#pragma once
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>

namespace crochet::kernel {

/// The transforms and products, which do not depend on the epilogue.
namespace winograd {

inline constexpr std::int64_t points = 16;  ///< of a transformed tile, or window
/// The tiles that are transformed before they are multiplied. With few channels those of one register tile stay in the
/// nearest cache; with many, reading the windows twice as often costs more.
constexpr std::int64_t tiles_at_once(std::int64_t channels) { return (channels <= 64 ? 1 : 2) * tallest_tile; }

/// Sums in the space of the transform are as deep as there are channels; with fewer the transforms cost too much. More
/// weights than this do not fit a core's own cache.
constexpr bool pays(const Slide& s, std::int64_t channels, std::int64_t filters) {
  constexpr std::int64_t least = 16, most_weights = std::int64_t{1} << 15, least_places = 64;
  const auto fits = [](const Axis& a) { return a.taps == 3 && a.stride == 1 && a.dilation == 1 && a.spread == 1; };
  return fits(s.y) && fits(s.x) && channels % least == 0 && channels > 0 && filters >= least &&
         channels * filters <= most_weights && s.y.places * s.x.places >= least_places;
}

/// The distance of the points of a panel of transformed windows. It is no power of two, so that they do not compete for
/// the same places of the cache.
template <class T>
constexpr std::int64_t window_pitch(std::int64_t channels) {
  return channels * panel_width<T> + simd::lanes;
}

/// One dimension of the transform of a tile: B^T d.
template <class V>
CROCHET_ALWAYS_INLINE void transform_tile(const V& d0, const V& d1, const V& d2, const V& d3, V* to, int step) {
  to[0] = d0 - d2;
  to[step] = d1 + d2;
  to[2 * step] = d2 - d1;
  to[3 * step] = d1 - d3;
}
/// One dimension of the transform of a window: G g.
template <class V, class T>
CROCHET_ALWAYS_INLINE void transform_window(const V& g0, const V& g1, const V& g2, T half, V* to, int step) {
  const V outer = (g0 + g2) * half, inner = g1 * half;
  to[0] = g0;
  to[step] = outer + inner;
  to[2 * step] = outer - inner;
  to[3 * step] = g2;
}

/// Transforms one vector of windows; tap t is at from[t * pitch]. Point p goes to to[p * distance].
template <class How, class T>
CROCHET_ALWAYS_INLINE void transform_windows(const T* from, std::int64_t pitch, How how, T* to, std::int64_t distance) {
  using V = simd::vec<T>;
  V g[9], half[12], all[points];
  CROCHET_UNROLL
  for (int tap = 0; tap < 9; ++tap) g[tap] = simd::load(from + tap * pitch, how, T{});
  CROCHET_UNROLL
  for (int x = 0; x < 3; ++x) transform_window(g[x], g[3 + x], g[6 + x], T(0.5), half + x, 3);
  CROCHET_UNROLL
  for (int y = 0; y < 4; ++y) {
    transform_window(half[3 * y], half[3 * y + 1], half[3 * y + 2], T(0.5), all + 4 * y, 1);
  }
  CROCHET_UNROLL
  for (int p = 0; p < points; ++p) simd::store(to + p * distance, all[p]);
}
/// Transforms the windows of one panel of filters, columns [j, j + n) of `filter` [9 * channels, filters], to matrices
/// [channels, panel_width], one for each point, window_pitch apart, padded with zeros.
template <class T>
[[gnu::noinline]] void transform_panel(const Matrix<T>& filter, std::int64_t channels, std::int64_t j, std::int64_t n,
                                       T* to) {
  const std::int64_t tap = channels * filter.row, distance = window_pitch<T>(channels);
  for (std::int64_t u = 0; u < panel_width<T>; u += simd::lanes) {
    const T* from = filter.at(0, u < n ? j + u : j);
    for (std::int64_t c = 0; c < channels; ++c, from += filter.row) {
      T* const at = to + c * panel_width<T> + u;
      if (n - u >= simd::lanes) {
        transform_windows(from, tap, simd::Whole{}, at, distance);
      } else {
        transform_windows(from, tap, simd::First{n < u ? 0 : n - u}, at, distance);
      }
    }
  }
}

/// Transforms one tile of an image with rows `pitch` elements apart. Point p of channel c goes to
/// to[p * distance + c]. `channels` is a multiple of native_lanes.
template <class T>
[[gnu::noinline]] void transform_pixels(const T* from, std::int64_t pitch, std::int64_t channels, T* to,
                                        std::int64_t distance) {
  using V = detail::native<T>;
  for (std::int64_t c = 0; c < channels; c += native_lanes<T>) {
    V d[points], columns[points];
    CROCHET_UNROLL
    for (int p = 0; p < points; ++p)
      __builtin_memcpy(&d[p], from + (p / 4) * pitch + (p % 4) * channels + c, sizeof(V));
    CROCHET_UNROLL
    for (int x = 0; x < 4; ++x) transform_tile(d[x], d[4 + x], d[8 + x], d[12 + x], columns + x, 4);
    CROCHET_UNROLL
    for (int y = 0; y < 16; y += 4) {
      transform_tile(columns[y], columns[y + 1], columns[y + 2], columns[y + 3], d + y, 1);
    }
    CROCHET_UNROLL
    for (int p = 0; p < points; ++p) __builtin_memcpy(to + p * distance + c, &d[p], sizeof(V));
  }
}

/// The products at all points: `count` tiles [channels] by a panel of the transformed windows. Point p of tile t goes
/// to row p * tiles_at_once + t of `to`.
template <int N, class T>
[[gnu::noinline]] void multiply(std::int64_t count, std::int64_t channels, const T* tiles, const T* windows, T* to) {
  const std::int64_t room = tiles_at_once(channels);
  struct Rows {
    T* data;
    std::int64_t pitch;
  };
  constexpr std::int64_t width = N * native_lanes<T>, zero = 0;
  for (std::int64_t p = 0; p < points; ++p) {
    const Segments s{.left_at = &zero,
                     .panel_at = &zero,
                     .count = 1,
                     .depth = channels,
                     .step = 1,
                     .pitch = panel_width<T>,
                     .row = channels};
    convolution_rows<N, RowsAt::even>(
        count, tiles + p * room * channels, windows + p * window_pitch<T>(channels), s,
        [&](std::int64_t r) {
          return Rows{to + (p * room + r) * width, width};
        },
        [](auto&&...) {});
  }
}

/// Transforms the sums of one tile back: A^T m A. Point p is at from[p * distance]; result (y, x) goes to
/// to[(2 * y + x) * width].
template <int N, class T>
CROCHET_ALWAYS_INLINE void transform_sums(const T* from, std::int64_t distance, T* to) {
  using V = detail::native<T>;
  constexpr std::int64_t width = N * native_lanes<T>;
  CROCHET_UNROLL
  for (std::int64_t u = 0; u < width; u += native_lanes<T>) {
    V m[points], rows[8];
    CROCHET_UNROLL
    for (int p = 0; p < points; ++p) __builtin_memcpy(&m[p], from + p * distance + u, sizeof(V));
    CROCHET_UNROLL
    for (int x = 0; x < 4; ++x) {
      rows[x] = m[x] + m[4 + x] + m[8 + x];
      rows[4 + x] = m[4 + x] - m[8 + x] - m[12 + x];
    }
    CROCHET_UNROLL
    for (int y = 0; y < 2; ++y) {
      const V *const r = rows + 4 * y, left = r[0] + r[1] + r[2], right = r[1] - r[2] - r[3];
      __builtin_memcpy(to + 2 * y * width + u, &left, sizeof(V));
      __builtin_memcpy(to + (2 * y + 1) * width + u, &right, sizeof(V));
    }
  }
}

}  // namespace winograd

/// `channels`: of the source; `filters`: channels of the result; `filter`: [9 * channels, filters].
template <class T, ConvolutionPaths P, class Epilogue>
class Winograd {
 public:
  Winograd(const Slide& slide, std::int64_t channels, std::int64_t filters, const Matrix<T>& filter, Worker& worker,
           const Epilogue& epilogue)
      : slide_(slide),
        channels_(channels),
        filters_(filters),
        filter_(filter),
        worker_(worker),
        epilogue_(epilogue),
        across_((slide.x.places + 1) / 2),
        down_((slide.y.places + 1) / 2),
        pitch_((2 * across_ + 2) * channels),
        at_once_(winograd::tiles_at_once(channels)) {}

  /// The rows of tiles of an image.
  static std::int64_t tile_rows(const Slide& slide) { return (slide.y.places + 1) / 2; }
  /// Computes these rows of tiles, counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0) return;
    reserve(mine.size() < down_ ? mine.size() : down_);
    const std::int64_t size = slide_.y.source * slide_.x.source * channels_;
    while (mine.from < mine.to) {
      const std::int64_t n = mine.from / down_, first = mine.from - n * down_;
      const std::int64_t left = mine.to - n * down_, last = left < down_ ? left : down_;
      copy(images + n * size, first, last);
      for (std::int64_t t = first * across_; t < last * across_; t += at_once_) {
        const std::int64_t rest = last * across_ - t;
        block(n, first, t, rest < at_once_ ? rest : at_once_);
      }
      mine.from = n * down_ + last;
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);

  /// Divides one piece of scratch memory, and transforms all windows.
  void reserve(std::int64_t rows) {
    const std::int64_t panels = (filters_ + panel_width<T> - 1) / panel_width<T>;
    const std::int64_t panel = winograd::points * winograd::window_pitch<T>(channels_);
    const std::int64_t tiles = winograd::points * at_once_ * channels_;
    const std::int64_t sums = winograd::points * at_once_ * panel_width<T>;
    windows_ = worker_.scratch<T>(panels * panel + tiles + sums + (2 * rows + 2) * pitch_);
    tiles_ = windows_ + panels * panel;
    sums_ = tiles_ + tiles;
    pixels_ = sums_ + sums;
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t j = p * panel_width<T>;
      winograd::transform_panel(filter_, channels_, j, width_at(j), windows_ + p * panel);
    }
  }
  std::int64_t width_at(std::int64_t j) const { return filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>; }

  /// Copies the pixels that rows [first, last) of tiles read, with zeros around the image.
  void copy(const T* image, std::int64_t first, std::int64_t last) {
    const std::int64_t columns = 2 * across_ + 2, from = slide_.x.before, width = slide_.x.source;
    const std::int64_t beyond = columns - from - width;  // negative: pixels that no window reads
    const std::int64_t taken = beyond < 0 ? width + beyond : width;
    T* to = pixels_;
    for (std::int64_t y = 2 * first - slide_.y.before; y < 2 * last + 2 - slide_.y.before; ++y, to += pitch_) {
      if (y < 0 || y >= slide_.y.source) {
        __builtin_memset(to, 0, bytes(columns));
        continue;
      }
      __builtin_memset(to, 0, bytes(from));
      __builtin_memcpy(to + from * channels_, image + y * width * channels_, bytes(taken));
      if (beyond > 0) __builtin_memset(to + (from + width) * channels_, 0, bytes(beyond));
    }
  }
  std::size_t bytes(std::int64_t pixels) const { return static_cast<std::size_t>(pixels * channels_) * sizeof(T); }

  /// Computes `count` tiles of image n from number `at` on. `first`: the first row of tiles in pixels_.
  void block(std::int64_t n, std::int64_t first, std::int64_t at, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t y = (at + t) / across_ - first, x = (at + t) % across_;
      winograd::transform_pixels(pixels_ + 2 * y * pitch_ + 2 * x * channels_, pitch_, channels_,
                                 tiles_ + t * channels_, at_once_ * channels_);
    }
    const T* windows = windows_;
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = width_at(j);
      choose_width<T, P>(
          width, [&] { panel<native_per_panel>(n, at, count, j, width, windows); },
          [&] { panel<1>(n, at, count, j, width, windows); });
      windows += winograd::points * winograd::window_pitch<T>(channels_);
    }
  }
  template <int N>
  void panel(std::int64_t n, std::int64_t at, std::int64_t count, std::int64_t j, std::int64_t width,
             const T* windows) {
    constexpr std::int64_t full = N * native_lanes<T>;
    winograd::multiply<N>(count, channels_, tiles_, windows, sums_);
    alignas(64) T results[4 * full];
    for (std::int64_t t = 0; t < count; ++t) {
      winograd::transform_sums<N>(sums_ + t * full, at_once_ * full, results);
      const std::int64_t y = 2 * ((at + t) / across_), x = 2 * ((at + t) % across_);
      for (std::int64_t k = 0; k < 4; ++k) {
        const std::int64_t row = y + k / 2, column = x + k % 2;
        if (row >= slide_.y.places || column >= slide_.x.places) continue;
        result<N>((n * slide_.y.places + row) * slide_.x.places + column, j, width, results + k * full);
      }
    }
  }
  template <int N>
  CROCHET_ALWAYS_INLINE void result(std::int64_t row, std::int64_t j, std::int64_t width, const T* values) const {
    constexpr int vectors = N * native_lanes<T> / simd::lanes;
    if constexpr (vectors > 0) {
      if (width == N * native_lanes<T>) {
        simd::vec<T> v[vectors];
        __builtin_memcpy(v, values, sizeof v);
        return epilogue_.template vectors<vectors>(row, j, v);
      }
    }
    epilogue_.row(row, j, width, values);
  }

  Slide slide_;
  std::int64_t channels_, filters_;
  const Matrix<T>& filter_;
  Worker& worker_;
  const Epilogue& epilogue_;
  std::int64_t across_, down_;  ///< tiles of an image
  std::int64_t pitch_;          ///< the distance of rows in pixels_
  std::int64_t at_once_;        ///< tiles in tiles_ and sums_
  T *windows_ = nullptr, *tiles_ = nullptr, *sums_ = nullptr, *pixels_ = nullptr;
};

}  // namespace crochet::kernel

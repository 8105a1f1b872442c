// SPDX-License-Identifier: Apache-2.0
// Winograd's convolutions F(2x2, 3x3) and F(4x4, 3x3): windows of 3x3 pixels with stride 1, a square of results at a
// time. A tile of 4x4 or 6x6 pixels and a window are transformed to as many numbers each; a result then needs 4 or 2.25
// products for each pair of channels in place of 9. docs/architecture.md has the rounding errors.
#pragma once
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd_transforms.hpp>

namespace crochet::kernel {

namespace winograd {

/// The tiles that are transformed before they are multiplied. With few channels those of one register tile stay in the
/// nearest cache; with many, reading the windows twice as often costs more.
constexpr std::int64_t tiles_at_once(std::int64_t channels) { return (channels <= 64 ? 1 : 2) * tallest_tile; }

/// The results along an edge of a tile: 2 or 4, or 0 if sums of products are faster. Sums in the space of the transform
/// are as deep as there are channels; with fewer the transforms cost too much. Transformed windows must fit a core's
/// own cache; the larger ones pay only if there are many tiles for each.
constexpr int side_for(const Slide& s, std::int64_t channels, std::int64_t filters) {
  constexpr std::int64_t least = least_channels_of_winograd, least_places = 64;
  constexpr std::int64_t most_weights = std::int64_t{1} << 15;
  constexpr std::int64_t most_weights_of_large = std::int64_t{1} << 13;
  const auto fits = [](const Axis& a) { return a.taps == 3 && a.stride == 1 && a.dilation == 1 && a.spread == 1; };
  const std::int64_t places = s.y.places * s.x.places, weights = channels * filters;
  const bool pays = fits(s.y) && fits(s.x) && channels % least == 0 && channels > 0 && filters >= least &&
                    weights <= most_weights && places >= least_places;
  if (!pays) return 0;
  return places >= least_places_of_large_tiles && weights <= most_weights_of_large ? 4 : 2;
}

/// The products at all points: `count` tiles [channels] by a panel of the transformed windows. Point p of tile t goes
/// to row p * tiles_at_once + t of `to`.
template <int Side, int N, class T>
[[gnu::noinline]] void multiply(std::int64_t count, std::int64_t channels, const T* tiles, const T* windows, T* to) {
  const std::int64_t room = tiles_at_once(channels);
  struct Rows {
    T* data;
    std::int64_t pitch;
  };
  constexpr std::int64_t width = N * native_lanes<T>, zero = 0;
  for (std::int64_t p = 0; p < points<Side>; ++p) {
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

}  // namespace winograd

/// `channels`: of the source; `filters`: channels of the result; `filter`: [9 * channels, filters].
template <int Side, class T, ConvolutionPaths P, class Epilogue>
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
        across_((slide.x.places + Side - 1) / Side),
        down_(tile_rows(slide)),
        pitch_((Side * across_ + 2) * channels),
        at_once_(winograd::tiles_at_once(channels)) {}

  /// The rows of tiles of an image.
  static std::int64_t tile_rows(const Slide& slide) { return (slide.y.places + Side - 1) / Side; }
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
  static constexpr std::int64_t points = winograd::points<Side>;
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);

  /// Divides one piece of scratch memory, and transforms all windows.
  void reserve(std::int64_t rows) {
    const std::int64_t panels = (filters_ + panel_width<T> - 1) / panel_width<T>;
    const std::int64_t panel = points * winograd::window_pitch<T>(channels_);
    const std::int64_t tiles = points * at_once_ * channels_;
    const std::int64_t sums = points * at_once_ * panel_width<T>;
    windows_ = worker_.scratch<T>(panels * panel + tiles + sums + (Side * rows + 2) * pitch_);
    tiles_ = windows_ + panels * panel;
    sums_ = tiles_ + tiles;
    pixels_ = sums_ + sums;
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t j = p * panel_width<T>;
      winograd::transform_panel<Side>(filter_, channels_, j, width_at(j), windows_ + p * panel);
    }
  }
  std::int64_t width_at(std::int64_t j) const { return filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>; }

  /// Copies the pixels that rows [first, last) of tiles read, with zeros around the image.
  void copy(const T* image, std::int64_t first, std::int64_t last) {
    const std::int64_t columns = Side * across_ + 2, from = slide_.x.before, width = slide_.x.source;
    const std::int64_t beyond = columns - from - width;  // negative: pixels that no window reads
    const std::int64_t taken = beyond < 0 ? width + beyond : width;
    T* to = pixels_;
    const std::int64_t end = Side * last + 2 - slide_.y.before;
    for (std::int64_t y = Side * first - slide_.y.before; y < end; ++y, to += pitch_) {
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
      winograd::transform_pixels<Side>(pixels_ + Side * y * pitch_ + Side * x * channels_, pitch_, channels_,
                                       tiles_ + t * channels_, at_once_ * channels_);
    }
    const T* windows = windows_;
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = width_at(j);
      choose_width<T, P>(
          width, [&] { panel<native_per_panel>(n, at, count, j, width, windows); },
          [&] { panel<1>(n, at, count, j, width, windows); });
      windows += points * winograd::window_pitch<T>(channels_);
    }
  }
  template <int N>
  void panel(std::int64_t n, std::int64_t at, std::int64_t count, std::int64_t j, std::int64_t width,
             const T* windows) {
    constexpr std::int64_t full = N * native_lanes<T>;
    winograd::multiply<Side, N>(count, channels_, tiles_, windows, sums_);
    alignas(64) T results[Side * Side * full];
    for (std::int64_t t = 0; t < count; ++t) {
      winograd::transform_sums<Side, N>(sums_ + t * full, at_once_ * full, results);
      const std::int64_t y = Side * ((at + t) / across_), x = Side * ((at + t) % across_);
      for (std::int64_t k = 0; k < Side * Side; ++k) {
        const std::int64_t row = y + k / Side, column = x + k % Side;
        if (row >= slide_.y.places || column >= slide_.x.places) continue;
        pass_row<N>(epilogue_, (n * slide_.y.places + row) * slide_.x.places + column, j, width, results + k * full);
      }
    }
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

// SPDX-License-Identifier: Apache-2.0
// winograd::Tiles: the windows of a convolution and some tiles of pixels, transformed, and their products. All that
// does not depend on the epilogue, so all steps share its code.
#pragma once
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd_transforms.hpp>

namespace crochet::kernel::winograd {

/// The tiles that are transformed before they are multiplied. With few channels those of one register tile stay in the
/// nearest cache; with many, reading the windows twice as often costs more.
constexpr std::int64_t tiles_at_once(std::int64_t channels) { return (channels <= 64 ? 1 : 2) * tallest_tile; }

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

/// The memory of one member, and what fills it. Side: the results along an edge of a tile.
template <int Side, class T>
class Tiles {
 public:
  /// `channels`: of the source; `filters`: channels of the result.
  Tiles(const Slide& slide, std::int64_t channels, std::int64_t filters)
      : slide_(slide),
        channels_(channels),
        filters_(filters),
        across_((slide.x.places + Side - 1) / Side),
        pitch_((Side * across_ + 2) * channels),
        at_once_(tiles_at_once(channels)) {}

  /// The tiles of a row of an image.
  std::int64_t across() const { return across_; }
  /// The number of tiles that transform() takes at most, and the distance of the points of their sums, in rows.
  std::int64_t at_once() const { return at_once_; }
  /// The transformed windows of panel `p` of the filters, window_pitch apart.
  const T* windows(std::int64_t p) const { return windows_ + p * panel_size(); }
  const T* tiles() const { return tiles_; }
  /// Memory for the sums of the tiles by one panel.
  T* sums() const { return sums_; }

  /// Divides a piece of scratch memory, for the pixels of `rows` rows of tiles, and transforms all windows. `filter`:
  /// [9 * channels, filters].
  [[gnu::noinline]] void begin(const Matrix<T>& filter, std::int64_t rows, Worker& worker) {
    const std::int64_t panels = (filters_ + panel_width<T> - 1) / panel_width<T>;
    const std::int64_t tiles = points<Side> * at_once_ * channels_, sums = points<Side> * at_once_ * panel_width<T>;
    windows_ = worker.scratch<T>(panels * panel_size() + tiles + sums + (Side * rows + 2) * pitch_);
    tiles_ = windows_ + panels * panel_size();
    sums_ = tiles_ + tiles;
    pixels_ = sums_ + sums;
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t j = p * panel_width<T>, left = filters_ - j;
      transform_panel<Side>(filter, channels_, j, left < panel_width<T> ? left : panel_width<T>,
                            windows_ + p * panel_size());
    }
  }
  /// Copies the pixels that rows [first, last) of tiles read, with zeros around the image.
  [[gnu::noinline]] void copy(const T* image, std::int64_t first, std::int64_t last) {
    const std::int64_t before = slide_.x.before, width = slide_.x.source, behind = Side * across_ + 2 - before - width;
    const std::int64_t end = Side * last + 2 - slide_.y.before;
    T* to = pixels_;
    for (std::int64_t y = Side * first - slide_.y.before; y < end; ++y, to += pitch_) {
      if (y < 0 || y >= slide_.y.source) {
        __builtin_memset(to, 0, bytes(Side * across_ + 2));
        continue;
      }
      __builtin_memset(to, 0, bytes(before));
      __builtin_memcpy(to + before * channels_, image + y * width * channels_, bytes(width));
      __builtin_memset(to + (before + width) * channels_, 0, bytes(behind));
    }
    first_ = first;
  }
  /// Transforms `count` tiles of that image from number `at` on.
  [[gnu::noinline]] void transform(std::int64_t at, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t y = (at + t) / across_ - first_, x = (at + t) % across_;
      transform_pixels<Side>(pixels_ + Side * y * pitch_ + Side * x * channels_, pitch_, channels_,
                             tiles_ + t * channels_, at_once_ * channels_);
    }
  }

 private:
  std::int64_t panel_size() const { return points<Side> * window_pitch<T>(channels_); }
  std::size_t bytes(std::int64_t pixels) const { return static_cast<std::size_t>(pixels * channels_) * sizeof(T); }

  Slide slide_;
  std::int64_t channels_, filters_;
  std::int64_t across_;
  std::int64_t pitch_;  ///< the distance of rows in pixels_
  std::int64_t at_once_;
  std::int64_t first_ = 0;  ///< the first row of tiles in pixels_
  T *windows_ = nullptr, *tiles_ = nullptr, *sums_ = nullptr, *pixels_ = nullptr;
};

}  // namespace crochet::kernel::winograd

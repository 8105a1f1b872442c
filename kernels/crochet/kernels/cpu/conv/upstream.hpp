// SPDX-License-Identifier: Apache-2.0
// The upstream gradient of a filter's gradient: read from memory or, if the convolution's result was pooled, computed
// from the gradient of the pooling and its winners.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/winners.hpp>
#include <crochet/kernels/cpu/tiles/panel.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Images of upstream gradients, [images, height, width, channels].
template <class T>
class Upstream {
 public:
  Upstream(const T* data, std::int64_t height, std::int64_t width, std::int64_t channels)
      : data_(data), height_(height), width_(width), channels_(channels) {}

  /// The size of the scratch memory for panel() of `rows` rows of an image, in elements.
  std::int64_t room(std::int64_t rows) const {
    return channels_ % panel_width<T> == 0 ? 0 : rows * width_ * panel_width<T>;
  }
  /// Channels [j, j + n) of some rows of image i. The rest of the panel's width is readable.
  Panel<T> panel(std::int64_t i, std::int64_t j, std::int64_t n, Range rows, T* room) const {
    const T* from = data_ + (i * height_ + rows.from) * width_ * channels_;
    if (n == panel_width<T>) return {from + j, channels_};
    detail::copy_panel(row_major(from, channels_), rows.size() * width_, j, n, room);
    return {room, panel_width<T>};
  }

 private:
  const T* data_;
  std::int64_t height_, width_, channels_;
};

/// As above for a pooling by adjacent windows: each upstream element goes to the winner of its window.
template <class T, class Index>
class PooledUpstream {
 public:
  /// `data`, `winners`: [images, height, width, channels], of windows of window_height by window_width.
  PooledUpstream(const T* data, const Index* winners, std::int64_t height, std::int64_t width, std::int64_t channels,
                 std::int64_t window_height, std::int64_t window_width)
      : data_(data),
        winners_(winners),
        height_(height),
        width_(width),
        channels_(channels),
        window_height_(window_height),
        window_width_(window_width) {}

  std::int64_t room(std::int64_t rows) const {
    const std::int64_t windows = (rows + 2 * window_height_ - 2) / window_height_;
    return (windows < height_ ? windows : height_) * pitch() * window_height_;
  }
  Panel<T> panel(std::int64_t i, std::int64_t j, std::int64_t n, Range rows, T* room) const {
    const std::int64_t begin = rows.from / window_height_, end = (rows.to + window_height_ - 1) / window_height_;
    const std::int64_t first = (i * height_ + begin) * width_ * channels_ + j;
    const T* up = data_ + first;
    const Index* winners = winners_ + first;
    for (std::int64_t y = 0; y < end - begin; ++y) {
      for (std::int64_t x = 0; x < width_; ++x, up += channels_, winners += channels_) {
        T* corner = room + y * window_height_ * pitch() + x * window_width_ * panel_width<T>;
        for (std::int64_t r = 0; r < window_height_; ++r) {
          for (std::int64_t c = 0; c < window_width_; ++c) {
            place(up, winners, r * window_width_ + c, n, corner + r * pitch() + c * panel_width<T>);
          }
        }
      }
    }
    return {room + (rows.from - begin * window_height_) * pitch(), panel_width<T>};
  }

 private:
  /// The distance of rows in a panel.
  std::int64_t pitch() const { return width_ * window_width_ * panel_width<T>; }
  CROCHET_ALWAYS_INLINE static void place(const T* up, const Index* winners, std::int64_t tap, std::int64_t n, T* to) {
    constexpr std::int64_t lanes = native_lanes<T>;
    if (n == panel_width<T>) {
      CROCHET_UNROLL
      for (std::int64_t c = 0; c < panel_width<T>; c += lanes) {
        simd::store(to + c, detail::to_winner<detail::part<T>>(up + c, winners + c, tap));
      }
    } else {
      for (std::int64_t c = 0; c < panel_width<T>; ++c) {
        to[c] = c < n ? detail::to_winner<T>(up + c, winners + c, tap) : T{};
      }
    }
  }

  const T* data_;
  const Index* winners_;
  std::int64_t height_, width_, channels_, window_height_, window_width_;
};

}  // namespace crochet::kernel::CROCHET_ISA

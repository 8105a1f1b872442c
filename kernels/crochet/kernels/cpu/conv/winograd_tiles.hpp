// SPDX-License-Identifier: Apache-2.0
// winograd::Tiles: the windows of a convolution and some tiles of pixels, transformed, and their products. All that
// does not depend on the epilogue, so all steps share its code.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd_pixels.hpp>
#include <crochet/kernels/cpu/conv/winograd_transforms.hpp>

namespace crochet::kernel::CROCHET_ISA::winograd {

/// The tiles that are transformed before they are multiplied. With few channels those of one register tile stay in the
/// nearest cache; with many, reading the windows twice as often costs more.
constexpr std::int64_t tiles_at_once(std::int64_t channels) { return (channels <= 64 ? 1 : 2) * tallest_tile; }

/// The products at all points, `distance` apart: `count` tiles [channels] by a panel of the transformed windows. Point
/// p of tile t goes to row p * tiles_at_once + t of `to`.
template <int Side, int N, class T>
[[gnu::noinline]] void multiply(std::int64_t count, std::int64_t channels, const T* tiles, std::int64_t distance,
                                const T* windows, T* to) {
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
        count, tiles + p * distance, windows + p * window_pitch<T>(channels), s,
        [&](std::int64_t r) {
          return Rows{to + (p * room + r) * width, width};
        },
        [](auto&&...) {});
  }
}

/// The memory of one member, and what fills it. Side: the results along an edge of a tile.
template <int Side, class T>
class Tiles : public Pixels<Side, T> {
 public:
  /// `channels`: of the source; `filters`: channels of the result.
  Tiles(const Slide& slide, std::int64_t channels, std::int64_t filters)
      : Pixels<Side, T>(slide, channels, tiles_at_once(channels)), channels_(channels), filters_(filters) {}

  /// The transformed windows of panel `p` of the filters, window_pitch apart.
  const T* windows(std::int64_t p) const { return windows_ + p * panel_size(); }
  /// Memory for the sums of the tiles by one panel.
  T* sums() const { return sums_; }

  /// Divides a piece of scratch memory, for the pixels of `rows` rows of tiles, and transforms all windows. `filter`:
  /// [9 * channels, filters].
  [[gnu::noinline]] void begin(const Matrix<T>& filter, std::int64_t rows, Worker& worker) {
    const std::int64_t panels = (filters_ + panel_width<T> - 1) / panel_width<T>;
    const std::int64_t sums = points<Side> * this->at_once() * panel_width<T>;
    windows_ = worker.scratch<T>(panels * panel_size() + sums + this->room(rows));
    sums_ = windows_ + panels * panel_size();
    Pixels<Side, T>::begin(sums_ + sums);
    for (std::int64_t p = 0; p < panels; ++p) {
      const std::int64_t j = p * panel_width<T>, left = filters_ - j;
      transform_panel<Side>(filter, channels_, j, left < panel_width<T> ? left : panel_width<T>,
                            windows_ + p * panel_size());
    }
  }

 private:
  std::int64_t panel_size() const { return points<Side> * window_pitch<T>(channels_); }

  std::int64_t channels_, filters_;
  T *windows_ = nullptr, *sums_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA::winograd

// SPDX-License-Identifier: Apache-2.0
// The gradient of a filter of 3x3 by Winograd's transforms: tiles of pixels and of upstream gradients are multiplied at
// the points of the transform, 4 or 2.25 products for each place and pair of channels in place of 9, and their sums are
// transformed back once. It is the transpose of winograd.hpp in the window, with the same matrices.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/filter_sums.hpp>
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/upstream.hpp>
#include <crochet/kernels/cpu/conv/winograd_pixels.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace winograd {

/// The places of the upstream along an edge of a tile: 2 or 4, or 0 if sums of products are faster. The sums at the
/// points must fit a cache.
constexpr int gradient_side_for(const Slide& s, std::int64_t channels, std::int64_t filters) {
  constexpr std::int64_t most_weights = std::int64_t{1} << 16, most_weights_of_large = std::int64_t{1} << 14;
  const std::int64_t weights = channels * filters;
  if (!fits(s, channels, filters) || weights > most_weights) return 0;
  return s.y.places * s.x.places >= least_places_of_large_gradient_tiles && weights <= most_weights_of_large ? 4 : 2;
}

}  // namespace winograd

/// `channels` is a multiple of native_lanes. Side: the places of the upstream along an edge of a tile. From: Upstream
/// or PooledUpstream.
template <int Side, class T, class From, ConvolutionPaths P>
class WinogradGradient : public FilterSums<T> {
 public:
  using FilterSums<T>::panels;
  using FilterSums<T>::rows;
  using FilterSums<T>::width;

  WinogradGradient(const Slide& slide, std::int64_t channels, std::int64_t filters, const From& upstream)
      : FilterSums<T>(9 * channels, filters),
        y_(slide.y),
        x_(slide.x),
        channels_(channels),
        filters_(filters),
        pixels_(slide, channels, most_tiles),
        upstream_(upstream) {}

  /// The size of the scratch memory in elements.
  std::int64_t scratch() const {
    return points * panels() * channels_ * width + points * distance +
           whole_lines(upstream_.room(Side * rows_at_once())) + pixels_.room(rows_at_once());
  }

  /// Computes the sums over the images in `mine`, of all rows. `scratch` starts on a cache line.
  void sum(const T* images, Range mine, Range /*rows*/, T* sums, T* scratch) {
    const std::int64_t at_points = points * panels() * channels_ * width;
    at_points_ = scratch;
    ups_ = at_points_ + at_points;
    up_ = ups_ + points * distance;
    pixels_.begin(up_ + whole_lines(upstream_.room(Side * rows_at_once())));
    __builtin_memset(at_points_, 0, static_cast<std::size_t>(at_points) * sizeof(T));
    for (std::int64_t n = mine.from; n < mine.to; ++n) {
      const T* const image = images + n * y_.source * x_.source * channels_;
      for (std::int64_t y = 0; y < pixels_.down(); y += rows_at_once()) {
        const std::int64_t end = y + rows_at_once() < pixels_.down() ? y + rows_at_once() : pixels_.down();
        pixels_.copy(image, y, end);
        add_rows(n, y * pixels_.across(), end * pixels_.across());
      }
    }
    for (std::int64_t p = 0; p < panels(); ++p) {
      for (std::int64_t c = 0; c < channels_; ++c) {
        winograd::transform_gradient<Side, native_per_panel>(at_points_ + (p * points * channels_ + c) * width,
                                                             channels_ * width, sums + (p * rows() + c) * width,
                                                             channels_ * width);
      }
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(width / native_lanes<T>);
  static constexpr std::int64_t points = winograd::points<Side>;
  /// The greatest number of tiles that are multiplied together.
  static constexpr std::int64_t most_tiles = 64;
  static constexpr std::int64_t distance = most_tiles * width + simd::lanes;

  /// The rows of tiles whose pixels and upstream gradients are prepared together: whole images if they have few tiles.
  std::int64_t rows_at_once() const {
    const std::int64_t fit = most_tiles / pixels_.across();
    return fit < 1 ? 1 : fit < pixels_.down() ? fit : pixels_.down();
  }

  /// Adds tiles [from, to) of image n, which are whole rows.
  void add_rows(std::int64_t n, std::int64_t from, std::int64_t to) {
    const std::int64_t end = Side * (to / pixels_.across());
    const Range places{Side * (from / pixels_.across()), end < y_.places ? end : y_.places};
    for (std::int64_t at = from; at < to; at += most_tiles) {
      const std::int64_t count = to - at < most_tiles ? to - at : most_tiles;
      pixels_.transform(at, count);
      for (std::int64_t j = 0; j < filters_; j += width) {
        const std::int64_t some = filters_ - j < width ? filters_ - j : width;
        const Panel<T> up = upstream_.panel(n, j, some, places, up_);
        choose_width<T, P>(
            some, [&] { add_panel<native_per_panel>(up, places.from, at, count, j); },
            [&] { add_panel<1>(up, places.from, at, count, j); });
      }
    }
  }
  /// Adds `count` tiles from number `at` on, by a panel of the upstream from row `first` on.
  template <int N>
  void add_panel(Panel<T> up, std::int64_t first, std::int64_t at, std::int64_t count, std::int64_t j) {
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t y = Side * ((at + t) / pixels_.across()), x = Side * ((at + t) % pixels_.across());
      winograd::transform_upstream<Side, N>(up.data + ((y - first) * x_.places + x) * up.pitch, x_.places * up.pitch,
                                            up.pitch, y_.places - y, x_.places - x, ups_ + t * width, distance);
    }
    constexpr std::int64_t zero = 0;
    const Segments s{
        .left_at = &zero, .panel_at = &zero, .count = 1, .depth = count, .step = channels_, .pitch = width};
    for (std::int64_t p = 0; p < points; ++p) {
      add_convolution_rows<N, RowsAt::adjacent>(channels_, pixels_.tiles() + p * pixels_.distance(),
                                                ups_ + p * distance, s,
                                                at_points_ + (j * points + p * width) * channels_);
    }
  }

  Axis y_, x_;
  std::int64_t channels_, filters_;
  winograd::Pixels<Side, T> pixels_;
  From upstream_;
  T* at_points_ = nullptr;  ///< sums: panel, point, channel, [width]
  T* ups_ = nullptr;        ///< the upstream of some tiles, transformed: point, tile, [width]
  T* up_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA

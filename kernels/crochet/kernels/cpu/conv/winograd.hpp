// SPDX-License-Identifier: Apache-2.0
// Winograd's convolutions F(2x2, 3x3) and F(4x4, 3x3): windows of 3x3 pixels with stride 1, a square of results at a
// time. A tile of 4x4 or 6x6 pixels and a window are transformed to as many numbers each; a result then needs 4 or 2.25
// products for each pair of channels in place of 9. docs/architecture.md has the rounding errors.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/winograd_tiles.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace winograd {

/// The results along an edge of a tile: 2 or 4, or 0 if sums of products are faster. Transformed windows must fit a
/// core's own cache; the larger ones pay only if there are many tiles for each.
constexpr int side_for(const Slide& s, std::int64_t channels, std::int64_t filters) {
  constexpr std::int64_t most_weights = std::int64_t{1} << 15, most_weights_of_large = std::int64_t{1} << 13;
  const std::int64_t weights = channels * filters;
  if (!fits(s, channels, filters) || weights > most_weights) return 0;
  return s.y.places * s.x.places >= least_places_of_large_tiles && weights <= most_weights_of_large ? 4 : 2;
}

}  // namespace winograd

/// A convolution with an epilogue. `channels`: of the source; `filters`: channels of the result; `filter`: [9 *
/// channels, filters].
template <int Side, class T, ConvolutionPaths P, class Epilogue>
class Winograd {
 public:
  Winograd(const Slide& slide, std::int64_t channels, std::int64_t filters, const Matrix<T>& filter, Worker& worker,
           const Epilogue& epilogue)
      : y_(slide.y),
        x_(slide.x),
        channels_(channels),
        filters_(filters),
        filter_(filter),
        worker_(worker),
        epilogue_(epilogue),
        tiles_(slide, channels, filters) {}

  /// The rows of tiles of an image.
  static std::int64_t tile_rows(const Slide& slide) { return (slide.y.places + Side - 1) / Side; }
  /// Computes these rows of tiles, counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0) return;
    const std::int64_t down = (y_.places + Side - 1) / Side, across = tiles_.across();
    tiles_.begin(filter_, mine.size() < down ? mine.size() : down, worker_);
    while (mine.from < mine.to) {
      const std::int64_t n = mine.from / down, first = mine.from - n * down;
      const std::int64_t left = mine.to - n * down, last = left < down ? left : down;
      tiles_.copy(images + n * y_.source * x_.source * channels_, first, last);
      for (std::int64_t t = first * across; t < last * across; t += tiles_.at_once()) {
        const std::int64_t rest = last * across - t;
        block(n, t, rest < tiles_.at_once() ? rest : tiles_.at_once());
      }
      mine.from = n * down + last;
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);

  /// Computes `count` tiles of image n from number `at` on.
  void block(std::int64_t n, std::int64_t at, std::int64_t count) {
    tiles_.transform(at, count);
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>;
      choose_width<T, P>(
          width, [&] { panel<native_per_panel>(n, at, count, j, width); }, [&] { panel<1>(n, at, count, j, width); });
    }
  }
  template <int N>
  void panel(std::int64_t n, std::int64_t at, std::int64_t count, std::int64_t j, std::int64_t width) {
    constexpr std::int64_t full = N * native_lanes<T>;
    winograd::multiply<Side, N>(count, channels_, tiles_.tiles(), tiles_.distance(), tiles_.windows(j / panel_width<T>),
                                tiles_.sums());
    alignas(64) T results[Side * Side * full];
    for (std::int64_t t = 0; t < count; ++t) {
      winograd::transform_sums<Side, N>(tiles_.sums() + t * full, tiles_.at_once() * full, results);
      const std::int64_t y = Side * ((at + t) / tiles_.across()), x = Side * ((at + t) % tiles_.across());
      for (std::int64_t k = 0; k < Side * Side; ++k) {
        const std::int64_t row = y + k / Side, column = x + k % Side;
        if (row >= y_.places || column >= x_.places) continue;
        pass_row<N>(epilogue_, (n * y_.places + row) * x_.places + column, j, width, results + k * full);
      }
    }
  }

  Axis y_, x_;
  std::int64_t channels_, filters_;
  const Matrix<T>& filter_;
  Worker& worker_;
  const Epilogue& epilogue_;
  winograd::Tiles<Side, T> tiles_;
};

}  // namespace crochet::kernel::CROCHET_ISA

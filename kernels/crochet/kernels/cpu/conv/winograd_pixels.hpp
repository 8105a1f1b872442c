// SPDX-License-Identifier: Apache-2.0
// winograd::Pixels: tiles of pixels of an image, transformed.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/winograd_transforms.hpp>

namespace crochet::kernel::CROCHET_ISA::winograd {

/// Whether Winograd's transforms can pay. Sums at their points are as deep as there are channels, or tiles of an image;
/// with fewer the transforms cost too much.
constexpr bool fits(const Slide& s, std::int64_t channels, std::int64_t filters) {
  constexpr std::int64_t least = least_channels_of_winograd, least_places = 64, least_edge = 3;
  const auto is_dense = [](const Axis& a) { return a.taps == 3 && a.stride == 1 && a.dilation == 1 && a.spread == 1; };
  return is_dense(s.y) && is_dense(s.x) && channels % least == 0 && channels > 0 && filters >= least &&
         s.y.places * s.x.places >= least_places && s.y.places >= least_edge && s.x.places >= least_edge;
}

/// The pixels of some rows of tiles, and the transforms of some of the tiles. Side: the results along an edge of a
/// tile.
template <int Side, class T>
class Pixels {
 public:
  /// `at_once`: the tiles that transform() takes at most.
  Pixels(const Slide& slide, std::int64_t channels, std::int64_t at_once)
      : slide_(slide),
        channels_(channels),
        across_((slide.x.places + Side - 1) / Side),
        pitch_((Side * across_ + 2) * channels),
        at_once_(at_once) {}

  /// The tiles of a row, and of a column, of an image.
  std::int64_t across() const { return across_; }
  std::int64_t down() const { return (slide_.y.places + Side - 1) / Side; }
  std::int64_t at_once() const { return at_once_; }
  /// Tile t at point p is [channels], at tiles() + p * distance() + t * channels.
  const T* tiles() const { return tiles_; }
  /// It is no power of two, so that the points do not compete for the same places of the cache.
  std::int64_t distance() const { return at_once_ * channels_ + simd::lanes; }

  /// The memory for `rows` rows of tiles, in elements.
  std::int64_t room(std::int64_t rows) const { return points<Side> * distance() + (Side * rows + 2) * pitch_; }
  void begin(T* memory) {
    tiles_ = memory;
    pixels_ = tiles_ + points<Side> * distance();
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
                             tiles_ + t * channels_, distance());
    }
  }

 private:
  std::size_t bytes(std::int64_t pixels) const { return static_cast<std::size_t>(pixels * channels_) * sizeof(T); }

  Slide slide_;
  std::int64_t channels_;
  std::int64_t across_;
  std::int64_t pitch_;  ///< the distance of rows in pixels_
  std::int64_t at_once_;
  std::int64_t first_ = 0;  ///< the first row of tiles in pixels_
  T *tiles_ = nullptr, *pixels_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA::winograd

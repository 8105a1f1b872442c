// SPDX-License-Identifier: Apache-2.0
// Direct convolution of NHWC images: register tiles read the image and the filter where they are. Forward passes and
// gradients of images are the same loops, with the dimensions' axes turned around.
#pragma once
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>

namespace crochet::kernel {

/// How wide the panels of a result with so many channels are, in native registers.
template <class T>
constexpr bool is_narrow(std::int64_t channels) {
  return channels <= native_lanes<T>;
}

template <class T, class Epilogue>
class Correlation {
 public:
  /// `channels` of the source, `filters` of the result; `filter` is [taps * channels, filters].
  Correlation(const Slide& slide, std::int64_t channels, std::int64_t filters, Matrix<T> filter, Worker& worker,
              const Epilogue& epilogue)
      : y_(slide.y),
        x_(slide.x),
        channels_(channels),
        filters_(filters),
        depth_(slide.y.taps * slide.x.taps * channels),
        filter_(filter),
        border_(slide, channels, false),
        worker_(worker),
        epilogue_(epilogue) {}

  /// Places in rows [from, to), counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0 || filters_ == 0 || x_.places == 0) return;
    reserve(mine.size() * x_.places);
    const std::int64_t size = y_.source * x_.source * channels_;
    while (mine.from < mine.to) {
      const std::int64_t n = mine.from / y_.places, end = (n + 1) * y_.places;
      const Range some{mine.from - n * y_.places, (end < mine.to ? end : mine.to) - n * y_.places};
      source_ = border_.around(images + n * size, image_room_);
      first_result_ = n * y_.places * x_.places;
      for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
        const std::int64_t left = filters_ - j;
        const std::int64_t width = left < panel_width<T> ? left : panel_width<T>;
        is_narrow<T>(width) ? panel<1>(some, j, width) : panel<native_per_panel>(some, j, width);
      }
      mine.from += some.size();
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);

  /// One piece of scratch memory: segments, the image with its border, the filter in panels.
  void reserve(std::int64_t results) {
    constexpr std::int64_t word = sizeof(std::int64_t), line = 8;
    constexpr std::int64_t tiles_worth_a_copy = 64;
    const std::int64_t segments = (2 * y_.taps * x_.taps + line - 1) / line * line;
    // In panels a row is readable to its end; in rows the last panel would reach beyond it.
    const bool whole = filter_.panel != 0 || filters_ % panel_width<T> == 0;
    const bool copy =
        !whole || (filter_.panel == 0 && filters_ > panel_width<T> && results >= tiles_worth_a_copy * tallest_tile);
    const std::int64_t image = (border_.empty() ? 0 : border_.size() + 2 * panel_width<T>) / line * line;
    const std::int64_t panels = copy ? (filters_ + panel_width<T> - 1) / panel_width<T> * panel_width<T> * depth_ : 0;
    auto* words = worker_.scratch<std::int64_t>(
        segments + ((image + panels) * static_cast<std::int64_t>(sizeof(T)) + word - 1) / word);
    left_at_ = words;
    panel_at_ = words + y_.taps * x_.taps;
    image_room_ = reinterpret_cast<T*>(words + segments);
    if (copy) copy_filter(image_room_ + image);
  }
  void copy_filter(T* to) {
    const Matrix<T> from = filter_;
    filter_ = {to, panel_width<T>, 1, depth_ * panel_width<T>};
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t left = filters_ - j;
      detail::copy_panel(from, depth_, j, left < panel_width<T> ? left : panel_width<T>, to);
      to += depth_ * panel_width<T>;
    }
  }

  template <int N>
  void panel(Range rows, std::int64_t j, std::int64_t width) {
    const T* weights = filter_.at(0, j);
    for (std::int64_t y = rows.from; y < rows.to; ++y) {
      for (std::int64_t phase = 0; phase < x_.spread && phase < x_.places; ++phase) {
        const Segments s = segments(y, phase);
        const std::int64_t places = (x_.places - phase + x_.spread - 1) / x_.spread;
        tiles<N>(places, weights, s, first_result_ + y * x_.places + phase, j, width);
      }
    }
  }

  /// The little products behind the places phase, phase + spread, ... of row y.
  Segments segments(std::int64_t y, std::int64_t phase) {
    const bool side_by_side = x_.dilation == 1 && x_.spread == 1;  // taps of a row lie as their filters do
    Segments s{.left_at = left_at_,
               .panel_at = panel_at_,
               .count = 0,
               .depth = channels_,
               .step = 1,
               .pitch = filter_.row,
               .row = (x_.spread == 1 ? x_.stride : 1) * channels_};
    if (side_by_side) s.depth *= x_.taps;
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      const std::int64_t row = y_.at(y, i);
      if (row < 0) continue;
      for (std::int64_t k = 0; k < (side_by_side ? 1 : x_.taps); ++k) {
        const std::int64_t x = x_.spread_index(phase, k);
        if (x % x_.spread != 0) continue;
        left_at_[s.count] = row * border_.pitch() + (x / x_.spread + border_.left) * channels_;
        panel_at_[s.count++] = (i * x_.taps + k) * channels_ * filter_.row;
      }
    }
    return s;
  }

  /// The results of `places` places; the first is row `at` of the result, the others follow `spread` apart.
  template <int N>
  void tiles(std::int64_t places, const T* weights, const Segments& s, std::int64_t at, std::int64_t j,
             std::int64_t width) {
    alignas(64) T block[tallest_tile * panel_width<T>];
    constexpr std::int64_t full = N * native_lanes<T>;
    if constexpr (Epilogue::plain) {
      if (width == full) {
        const std::int64_t pitch = epilogue_.pitch() * x_.spread;
        return convolution_rows<N, RowsAt::even>(
            places, source_, weights, s,
            [&](std::int64_t r) {
              return Rows{epilogue_.destination(at + r * x_.spread, j), pitch};
            },
            [](auto&&...) {});
      }
    }
    convolution_rows<N, RowsAt::even>(
        places, source_, weights, s,
        [&](std::int64_t) {
          return Rows{block, full};
        },
        [&](std::int64_t r, int height, T*, std::int64_t) {
          for (int i = 0; i < height; ++i) result<N>(at + (r + i) * x_.spread, j, width, block + i * full);
        });
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

  struct Rows {
    T* data;
    std::int64_t pitch;
  };

  Axis y_, x_;
  std::int64_t channels_, filters_, depth_;
  Matrix<T> filter_;
  Border border_;
  Worker& worker_;
  const Epilogue& epilogue_;
  const T* source_ = nullptr;
  T* image_room_ = nullptr;
  std::int64_t* left_at_ = nullptr;
  std::int64_t* panel_at_ = nullptr;
  std::int64_t first_result_ = 0;
};

/// Results go to the epilogue; each member of the team makes its part of the rows, counted over all images.
template <class T, class Epilogue>
void correlate(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters, const T* source,
               Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  const bool pointwise = s.y.taps * s.x.taps == 1 && s.y.stride * s.x.stride * s.y.spread * s.x.spread == 1;
  if (!pointwise) {
    Correlation<T, Epilogue> c(s, channels, filters, filter, worker, epilogue);
    return c.rows(source, worker.part(images * s.y.places));
  }
  // A window of one pixel: all pixels of all images are one long row.
  const Range mine = worker.part(images * s.y.places * s.x.places, tallest_tile);
  Slide row = s;
  row.y.source = row.y.places = 1;
  row.x.source = row.x.places = mine.size();
  const Below<Epilogue> here{epilogue, mine.from};
  Correlation<T, Below<Epilogue>> c(row, channels, filters, filter, worker, here);
  c.rows(source + mine.from * channels, {0, 1});
}

}  // namespace crochet::kernel

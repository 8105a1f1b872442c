// SPDX-License-Identifier: Apache-2.0
// Direct convolution of NHWC images: register tiles read the image and the filter in place. Forward passes and
// gradients of images share the loops, with the axes reversed.
#pragma once
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd.hpp>

namespace crochet::kernel {

template <class T, ConvolutionPaths P, class Epilogue>
class Correlation {
 public:
  /// `channels`: of the source; `filters`: channels of the result; `filter`: [taps * channels, filters].
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

  /// Computes the rows in `mine`, counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0 || filters_ == 0 || x_.places == 0) return;
    reserve();
    if (!copies_) {
      for (; mine.from < mine.to; mine.from = end_of_image(mine)) panels(images, {mine.from, end_of_image(mine)});
    } else {
      panels(images, mine);
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);

  /// The end (exclusive) of the image that contains row mine.from, or mine.to if that is less.
  std::int64_t end_of_image(Range mine) const {
    const std::int64_t end = (mine.from / y_.places + 1) * y_.places;
    return end < mine.to ? end : mine.to;
  }

  /// Divides one piece of scratch memory into the segments, the padded image, and a panel of the filter.
  void reserve() {
    constexpr std::int64_t word = sizeof(std::int64_t), line = 8;
    // A large matrix is slow to read by columns. Rows that do not fill a panel must not be read past their end.
    constexpr std::int64_t large = std::int64_t{1} << 18;
    const std::int64_t bytes = depth_ * filters_ * static_cast<std::int64_t>(sizeof(T));
    copies_ = filter_.panel == 0 && (filters_ % panel_width<T> != 0 || (bytes > large && filters_ > panel_width<T>));
    const std::int64_t segments = (2 * y_.taps * x_.taps + line - 1) / line * line;
    const std::int64_t image = border_.empty() ? 0 : (border_.size() + 15) / 16 * 16;
    const std::int64_t elements = image + (copies_ ? panel_scratch<T>(depth_) : 0);
    auto* words =
        worker_.scratch<std::int64_t>(segments + (elements * static_cast<std::int64_t>(sizeof(T)) + word - 1) / word);
    left_at_ = words;
    panel_at_ = words + y_.taps * x_.taps;
    image_room_ = reinterpret_cast<T*>(words + segments);
    panel_room_ = image_room_ + image;
  }

  /// Computes all images of the range, panel by panel.
  void panels(const T* images, Range mine) {
    const std::int64_t size = y_.source * x_.source * channels_;
    std::int64_t ready = -1;
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>;
      weights_ = {filter_.at(0, j), filter_.row};
      if (copies_) {
        detail::copy_panel(filter_, depth_, j, width, panel_room_);
        weights_ = {panel_room_, panel_width<T>};
      }
      for (Range rest = mine; rest.from < rest.to; rest.from = end_of_image(rest)) {
        const std::int64_t n = rest.from / y_.places, first = n * y_.places;
        if (n != ready) source_ = border_.around(images + n * size, image_room_);
        ready = n;
        first_result_ = first * x_.places;
        const Range some{rest.from - first, end_of_image(rest) - first};
        choose_width<T, P>(
            width, [&] { panel<native_per_panel>(some, j, width); }, [&] { panel<1>(some, j, width); });
      }
    }
  }

  template <int N>
  void panel(Range rows, std::int64_t j, std::int64_t width) {
    for (std::int64_t y = rows.from; y < rows.to; ++y) {
      for (std::int64_t phase = 0; phase < x_.spread && phase < x_.places; ++phase) {
        const Segments s = segments(y, phase);
        const std::int64_t places = (x_.places - phase + x_.spread - 1) / x_.spread;
        tiles<N>(places, s, first_result_ + y * x_.places + phase, j, width);
      }
    }
  }

  /// The segments of the positions phase, phase + spread, ... of row y.
  Segments segments(std::int64_t y, std::int64_t phase) {
    // True if the taps of a row are contiguous, as in the filter.
    const bool side_by_side = x_.dilation == 1 && x_.spread == 1;
    Segments s{.left_at = left_at_,
               .panel_at = panel_at_,
               .count = 0,
               .depth = channels_,
               .step = 1,
               .pitch = weights_.pitch,
               .row = (x_.spread == 1 ? x_.stride : 1) * channels_};
    if (side_by_side) s.depth *= x_.taps;
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      const std::int64_t row = y_.at(y, i);
      if (row < 0) continue;
      for (std::int64_t k = 0; k < (side_by_side ? 1 : x_.taps); ++k) {
        const std::int64_t x = x_.spread_index(phase, k);
        if (x % x_.spread != 0) continue;
        left_at_[s.count] = row * border_.pitch() + (x / x_.spread + border_.left) * channels_;
        panel_at_[s.count++] = (i * x_.taps + k) * channels_ * weights_.pitch;
      }
    }
    return s;
  }

  /// Computes the results of `places` positions. The first is row `at` of the result, the others follow at distance
  /// `spread`.
  template <int N>
  void tiles(std::int64_t places, const Segments& s, std::int64_t at, std::int64_t j, std::int64_t width) {
    alignas(64) T block[tallest_tile * panel_width<T>];
    constexpr std::int64_t full = N * native_lanes<T>;
    if constexpr (Epilogue::plain) {
      if (width == full) {
        const std::int64_t pitch = epilogue_.pitch() * x_.spread;
        return convolution_rows<N, RowsAt::even>(
            places, source_, weights_.data, s,
            [&](std::int64_t r) {
              return Rows{epilogue_.destination(at + r * x_.spread, j), pitch};
            },
            [](auto&&...) {});
      }
    }
    convolution_rows<N, RowsAt::even>(
        places, source_, weights_.data, s,
        [&](std::int64_t) {
          return Rows{block, full};
        },
        [&](std::int64_t r, int height, T*, std::int64_t) {
          for (int i = 0; i < height; ++i) pass_row<N>(epilogue_, at + (r + i) * x_.spread, j, width, block + i * full);
        });
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
  T* panel_room_ = nullptr;
  Panel<T> weights_{};
  bool copies_ = false;
  std::int64_t* left_at_ = nullptr;
  std::int64_t* panel_at_ = nullptr;
  std::int64_t first_result_ = 0;
};

/// Convolves. Each member of the team computes its part of the rows, counted over all images, and passes the results
/// to the epilogue. Exact: always by sums of products.
template <ConvolutionPaths P, bool Exact, class T, class Epilogue>
void correlate(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters, const T* source,
               Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  const bool pointwise = s.y.taps * s.x.taps == 1 && s.y.stride * s.x.stride * s.y.spread * s.x.spread == 1;
  if constexpr (P.winograd && !Exact && std::is_same_v<T, float>) {
    const int side = winograd::side_for(s, channels, filters);
    const auto run = [&]<int Side>(std::integral_constant<int, Side>) {
      Winograd<Side, T, P, Epilogue> c(s, channels, filters, filter, worker, epilogue);
      c.rows(source, worker.part(images * c.tile_rows(s)));
    };
    if constexpr (P.large_tiles) {
      if (side == 4) return run(std::integral_constant<int, 4>{});
    }
    if (side != 0) return run(std::integral_constant<int, 2>{});
  }
  if constexpr (P.windows) {
    if (!P.one_pixel || !pointwise) {
      Correlation<T, P, Epilogue> c(s, channels, filters, filter, worker, epilogue);
      return c.rows(source, worker.part(images * s.y.places));
    }
  }
  if constexpr (P.one_pixel) {
    // With a window of one pixel, all pixels of all images form one row.
    const Range mine = worker.part(images * s.y.places * s.x.places, tallest_tile);
    Slide row = s;
    row.y.source = row.y.places = 1;
    row.x.source = row.x.places = mine.size();
    const Below<Epilogue> here{epilogue, mine.from};
    Correlation<T, P, Below<Epilogue>> c(row, channels, filters, filter, worker, here);
    c.rows(source + mine.from * channels, {0, 1});
  }
}

}  // namespace crochet::kernel

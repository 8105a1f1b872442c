// SPDX-License-Identifier: Apache-2.0
// Direct convolution of NHWC images: register tiles read the image and the filter in place. Forward passes and
// gradients of images share the loops, with the axes reversed.
#pragma once
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16_panel.hpp>
#include <limits>

namespace crochet::kernel {

/// Word: what the tiles read (words.hpp).
template <class T, class Word, ConvolutionPaths P, class Epilogue>
class Correlation {
 public:
  /// `channels`: of the source; `filters`: channels of the result; `filter`: [taps * channels, filters].
  Correlation(const Slide& slide, std::int64_t channels, std::int64_t filters, Matrix<T> filter, Worker& worker,
              const Epilogue& epilogue)
      : y_(slide.y),
        x_(slide.x),
        channels_(channels),
        filters_(filters),
        run_(side_by_side() ? slide.x.taps * channels : channels),
        runs_(slide.y.taps * (side_by_side() ? 1 : slide.x.taps)),
        filter_(filter),
        border_(slide, channels, false),
        worker_(worker),
        epilogue_(epilogue) {}

  /// Computes the rows in `mine`, counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0 || filters_ == 0 || x_.places == 0) return;
    reserve();
    if (in_pairs) round_filter();
    if (in_pairs || !copies_) {
      for (; mine.from < mine.to; mine.from = end_of_image(mine)) panels(images, {mine.from, end_of_image(mine)});
    } else {
      panels(images, mine);
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);
  static constexpr bool in_pairs = !std::is_same_v<T, Word>;

  /// Whether the taps of a row are contiguous in the image, as in the filter.
  bool side_by_side() const { return x_.dilation == 1 && x_.spread == 1; }
  /// The distance of the filter's runs in a panel, in rows.
  std::int64_t words_of_run() const { return words_in<Word>(run_); }

  /// The end (exclusive) of the image that contains row mine.from, or mine.to if that is less.
  std::int64_t end_of_image(Range mine) const {
    const std::int64_t end = (mine.from / y_.places + 1) * y_.places;
    return end < mine.to ? end : mine.to;
  }

  /// Divides one piece of scratch memory into the segments, the padded image, its words, and a panel of the filter.
  void reserve() {
    constexpr std::int64_t word = sizeof(std::int64_t), line = 8;
    // A large matrix is slow to read by columns. Rows that do not fill a panel must not be read past their end.
    constexpr std::int64_t large = std::int64_t{1} << 18;
    const std::int64_t depth = runs_ * run_, bytes = depth * filters_ * static_cast<std::int64_t>(sizeof(T));
    const bool unsuitable = filters_ % panel_width<T> != 0 || (bytes > large && filters_ > panel_width<T>);
    copies_ = filter_.panel == 0 && unsuitable;
    const std::int64_t segments = (2 * y_.taps * x_.taps + line - 1) / line * line;
    const std::int64_t image = (border_.size() + 15) / 16 * 16;
    const std::int64_t padded = border_.empty() ? 0 : image, words = in_pairs ? image : 0;
    // Pairs: all panels, and the lines of one.
    const std::int64_t panels = in_pairs ? (filters_ + panel_width<T> - 1) / panel_width<T> : (copies_ ? 1 : 0);
    const std::int64_t panel = panels * panel_scratch<T>(in_pairs ? runs_ * words_of_run() : depth);
    const std::int64_t lines = in_pairs ? panel_scratch<T>(words_of_run()) : 0;
    const std::int64_t elements = padded + words + panel + lines;
    auto* from =
        worker_.scratch<std::int64_t>(segments + (elements * static_cast<std::int64_t>(sizeof(T)) + word - 1) / word);
    left_at_ = from;
    panel_at_ = from + y_.taps * x_.taps;
    image_room_ = reinterpret_cast<T*>(from + segments);
    words_room_ = reinterpret_cast<Word*>(image_room_ + padded);
    panel_room_ = words_room_ + words;
    lines_room_ = panel_room_ + panel;
  }

  /// Computes all images of the range, panel by panel.
  void panels(const T* images, Range mine) {
    const std::int64_t size = y_.source * x_.source * channels_;
    std::int64_t ready = -1;
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>;
      weights_ = weights(j, width);
      for (Range rest = mine; rest.from < rest.to; rest.from = end_of_image(rest)) {
        const std::int64_t n = rest.from / y_.places, first = n * y_.places;
        if (n != ready) {
          source_ = to_words(border_.around(images + n * size, image_room_), border_.size(), 1, words_room_);
        }
        ready = n;
        first_result_ = first * x_.places;
        const Range some{rest.from - first, end_of_image(rest) - first};
        choose_width<T, P>(
            width, [&] { panel<native_per_panel>(some, j, width); }, [&] { panel<1>(some, j, width); });
      }
    }
  }

  /// All panels of the filter as pairs, so that each image is rounded once.
  void round_filter() {
    if constexpr (in_pairs) {
      Word* to = panel_room_;
      for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
        const std::int64_t width = filters_ - j < panel_width<T> ? filters_ - j : panel_width<T>;
        Matrix<T> run = filter_;
        for (std::int64_t r = 0; r < runs_; ++r, run.data += run_ * filter_.row) {
          detail::rounded_panel(run, run_, j, width, to, lines_room_);
          to += words_of_run() * panel_width<T>;
        }
      }
    }
  }
  /// Columns [j, j + width) of the filter.
  Panel<Word> weights(std::int64_t j, std::int64_t width) {
    if constexpr (in_pairs) {
      return {panel_room_ + j * runs_ * words_of_run(), panel_width<T>};
    } else {
      if (!copies_) return {filter_.at(0, j), filter_.row};
      detail::copy_panel(filter_, runs_ * run_, j, width, panel_room_);
      return {panel_room_, panel_width<T>};
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
    const bool whole_row = side_by_side();
    Segments s{.left_at = left_at_,
               .panel_at = panel_at_,
               .count = 0,
               .depth = whole_words_in<Word>(run_),
               .step = word_step<Word>(1),
               .pitch = weights_.pitch,
               .row = (x_.spread == 1 ? x_.stride : 1) * channels_,
               .half = in_pairs && run_ % 2 != 0};
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      const std::int64_t row = y_.at(y, i);
      if (row < 0) continue;
      for (std::int64_t k = 0; k < (whole_row ? 1 : x_.taps); ++k) {
        const std::int64_t x = x_.spread_index(phase, k);
        if (x % x_.spread != 0) continue;
        left_at_[s.count] = row * border_.pitch() + (x / x_.spread + border_.left) * channels_;
        panel_at_[s.count++] = (whole_row ? i : i * x_.taps + k) * words_of_run() * weights_.pitch;
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
  std::int64_t channels_, filters_;
  std::int64_t run_, runs_;  ///< the length of a contiguous run of the window, and the number of runs
  Matrix<T> filter_;
  Border border_;
  Worker& worker_;
  const Epilogue& epilogue_;
  const Word* source_ = nullptr;
  T* image_room_ = nullptr;
  Word* words_room_ = nullptr;
  Word* panel_room_ = nullptr;
  Word* lines_room_ = nullptr;
  Panel<Word> weights_{};
  bool copies_ = false;
  std::int64_t* left_at_ = nullptr;
  std::int64_t* panel_at_ = nullptr;
  std::int64_t first_result_ = 0;
};

/// Convolves. Each member of the team computes its part of the rows, counted over all images, and passes the results
/// to the epilogue. Exact: always by sums of products.
template <ConvolutionPaths P, bool Exact, class Word, class T, class Epilogue>
void correlate(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters, const T* source,
               Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  const bool pointwise = s.y.taps * s.x.taps == 1 && s.y.stride * s.x.stride * s.y.spread * s.x.spread == 1;
  if constexpr (P.winograd && !Exact && std::is_same_v<Word, float>) {
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
      Correlation<T, Word, P, Epilogue> c(s, channels, filters, filter, worker, epilogue);
      return c.rows(source, worker.part(images * s.y.places));
    }
  }
  if constexpr (P.one_pixel) {
    // With a window of one pixel, all pixels of all images form one row, or a few, if their words are copies.
    Range mine = worker.part(images * s.y.places * s.x.places, tallest_tile);
    constexpr std::int64_t some = std::is_same_v<T, Word> ? std::numeric_limits<std::int64_t>::max() : 1024;
    Slide row = s;
    row.y.source = row.y.places = 1;
    for (; mine.from < mine.to; mine.from += row.x.places) {
      row.x.source = row.x.places = mine.size() < some ? mine.size() : some;
      const Below<Epilogue> here{epilogue, mine.from};
      Correlation<T, Word, P, Below<Epilogue>> c(row, channels, filters, filter, worker, here);
      c.rows(source + mine.from * channels, {0, 1});
    }
  }
}

}  // namespace crochet::kernel

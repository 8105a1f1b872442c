// SPDX-License-Identifier: Apache-2.0
// Direct convolution of NHWC images: register tiles read the image and the filter in place. Forward passes and
// gradients of images share the loops, with the axes reversed.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/gathered.hpp>
#include <crochet/kernels/cpu/conv/operands.hpp>
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/winograd.hpp>

namespace crochet::kernel::CROCHET_ISA {

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
        border_(slide, channels, false),
        operands_({filter, filters, slide.y.taps * (side_by_side() ? 1 : slide.x.taps), run_}, border_),
        worker_(worker),
        epilogue_(epilogue) {}

  /// Computes the rows in `mine`, counted over all images.
  void rows(const T* images, Range mine) {
    if (mine.size() <= 0 || filters_ == 0 || x_.places == 0) return;
    reserve();
    if (operands_.image_by_image()) {
      for (; mine.from < mine.to; mine.from = end_of_image(mine)) panels(images, {mine.from, end_of_image(mine)});
    } else {
      panels(images, mine);
    }
  }

 private:
  static constexpr int native_per_panel = static_cast<int>(panel_width<T> / native_lanes<T>);
  static constexpr bool in_quads = std::is_same_v<Word, Int8Quad>;

  /// Whether the taps of a row are contiguous in the image, as in the filter.
  bool side_by_side() const { return x_.dilation == 1 && x_.spread == 1; }
  /// The end (exclusive) of the image that contains row mine.from, or mine.to if that is less.
  std::int64_t end_of_image(Range mine) const {
    const std::int64_t end = (mine.from / y_.places + 1) * y_.places;
    return end < mine.to ? end : mine.to;
  }

  /// Divides one piece of scratch memory into the segments and the operands.
  void reserve() {
    constexpr std::int64_t word = sizeof(std::int64_t), line = 8;
    const std::int64_t segments = (2 * y_.taps * x_.taps + line - 1) / line * line;
    const std::int64_t bytes = operands_.room() * static_cast<std::int64_t>(sizeof(T));
    left_at_ = worker_.scratch<std::int64_t>(segments + (bytes + word - 1) / word);
    panel_at_ = left_at_ + y_.taps * x_.taps;
    operands_.begin(reinterpret_cast<T*>(left_at_ + segments));
  }

  /// Computes all images of the range, panel by panel.
  void panels(const T* images, Range mine) {
    const std::int64_t size = y_.source * x_.source * channels_;
    std::int64_t ready = -1;
    for (std::int64_t j = 0; j < filters_; j += panel_width<T>) {
      const std::int64_t width = operands_.width_of_panel(j);
      weights_ = operands_.panel(j, width);
      for (Range rest = mine; rest.from < rest.to; rest.from = end_of_image(rest)) {
        const std::int64_t n = rest.from / y_.places, first = n * y_.places;
        if (n != ready) source_ = operands_.image(images + n * size);
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
    const bool whole_row = side_by_side();
    Segments s{.left_at = left_at_,
               .panel_at = panel_at_,
               .count = 0,
               .depth = words_in<Word>(run_) - (ends_in_half<Word>(run_) ? 1 : 0),
               .step = numbers_in<Word>,
               .pitch = weights_.pitch,
               .row = (x_.spread == 1 ? x_.stride : 1) * channels_,
               .half = ends_in_half<Word>(run_)};
    if constexpr (in_quads) operands_.clear_offset();
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      const std::int64_t row = y_.at(y, i);
      if (row < 0) continue;
      for (std::int64_t k = 0; k < (whole_row ? 1 : x_.taps); ++k) {
        const std::int64_t x = x_.spread_index(phase, k);
        if (x % x_.spread != 0) continue;
        const std::int64_t run = whole_row ? i : i * x_.taps + k;
        left_at_[s.count] = row * border_.pitch() + (x / x_.spread + border_.left) * channels_;
        panel_at_[s.count++] = run * words_in<Word>(run_) * weights_.pitch;
        if constexpr (in_quads) operands_.add_offset(run);
      }
    }
    return s;
  }

  /// Computes the results of `places` positions. The first is row `at` of the result, the others follow at distance
  /// `spread`.
  template <int N>
  void tiles(std::int64_t places, const Segments& s, std::int64_t at, std::int64_t j, std::int64_t width) {
    alignas(64) detail::sum_of<Word> block[tallest_tile * panel_width<T>];
    constexpr std::int64_t full = N * native_lanes<T>;
    if constexpr (Epilogue::plain && !in_quads) {
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
    if constexpr (in_quads) {
      pass_tiles<N>(places, s, block, [&, r = operands_.template results<N>()](std::int64_t row, const Int8Quad* sums) {
        if constexpr (Epilogue::plain) {
          if (width == full) return r.make(sums, epilogue_.destination(at + row * x_.spread, j));
        }
        alignas(64) T made[full];
        r.make(sums, made);
        pass_row<N>(epilogue_, at + row * x_.spread, j, width, made);
      });
    } else {
      pass_tiles<N>(places, s, block, [&](std::int64_t row, const T* sums) {
        pass_row<N>(epilogue_, at + row * x_.spread, j, width, sums);
      });
    }
  }
  /// Computes sums in `block`, tile by tile, and calls pass(position, its sums).
  template <int N, class Pass>
  CROCHET_ALWAYS_INLINE void pass_tiles(std::int64_t places, const Segments& s, detail::sum_of<Word>* block,
                                        const Pass& pass) {
    constexpr std::int64_t full = N * native_lanes<T>;
    convolution_rows<N, RowsAt::even>(
        places, source_, weights_.data, s,
        [&](std::int64_t) {
          return Rows{block, full};
        },
        [&](std::int64_t r, int height, auto*, std::int64_t) {
          for (int i = 0; i < height; ++i) pass(r + i, block + i * full);
        });
  }

  struct Rows {
    detail::sum_of<Word>* data;
    std::int64_t pitch;
  };

  Axis y_, x_;
  std::int64_t channels_, filters_;
  std::int64_t run_;  ///< the length of a contiguous run of the window
  Border border_;
  ConvolutionOperands<T, Word> operands_;
  Worker& worker_;
  const Epilogue& epilogue_;
  const Word* source_ = nullptr;
  Panel<Word> weights_{};
  std::int64_t* left_at_ = nullptr;
  std::int64_t* panel_at_ = nullptr;
  std::int64_t first_result_ = 0;
};

namespace detail {
/// By Winograd's algorithm, if it pays. Returns whether it does.
template <ConvolutionPaths P, class T, class Epilogue>
bool correlate_in_tiles(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters,
                        const T* source, Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  const auto run = [&]<int Side>(std::integral_constant<int, Side>) {
    Winograd<Side, T, P, Epilogue> c(s, channels, filters, filter, worker, epilogue);
    c.rows(source, worker.part(images * c.tile_rows(s)));
    return true;
  };
  const int side = winograd::side_for(s, channels, filters);
  if constexpr (P.large_tiles) {
    if (side == 4) return run(std::integral_constant<int, 4>{});
  }
  return side != 0 && run(std::integral_constant<int, 2>{});
}

/// With a window of one pixel all pixels of all images form one row.
template <ConvolutionPaths P, class Backend, class T, class Epilogue>
void correlate_pixels(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters, const T* source,
                      Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  using Word = word_t<Backend, T>;
  const std::int64_t pixels = images * s.y.places * s.x.places;
  if constexpr (std::is_same_v<T, Word>) {
    const Range mine = worker.part(pixels, tallest_tile);
    Slide row = s;
    row.y.source = row.y.places = 1;
    row.x.source = row.x.places = mine.size();
    const Below<Epilogue> here{epilogue, mine.from};
    Correlation<T, Word, P, Below<Epilogue>> c(row, channels, filters, filter, worker, here);
    c.rows(source + mine.from * channels, {0, 1});
  } else {  // a product, some rows at a time, because the policy copies them
    constexpr std::int64_t some = 1024;
    for (Range mine = worker.part(pixels, Backend::template row_grain<T>); mine.from < mine.to; mine.from += some) {
      const Range rows{mine.from, mine.size() < some ? mine.to : mine.from + some};
      Backend::multiply(row_major(source, channels), filter, channels, rows, {0, filters}, worker, epilogue);
    }
  }
}
}  // namespace detail

/// Convolves. Each member of the team computes its part of the rows, counted over all images, and passes the results
/// to the epilogue. Backend: the product policy.
template <ConvolutionPaths P, class Backend, class T, class Epilogue>
void correlate(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t filters, const T* source,
               Matrix<T> filter, Worker& worker, const Epilogue& epilogue) {
  using Word = word_t<Backend, T>;
  const auto slide = [&]<class W>(W) {
    Correlation<T, W, P, Epilogue> c(s, channels, filters, filter, worker, epilogue);
    c.rows(source, worker.part(images * s.y.places));
  };
  if constexpr (P.winograd && !is_exact<Backend> && std::is_same_v<Word, float>) {
    if (detail::correlate_in_tiles<P>(s, images, channels, filters, source, filter, worker, epilogue)) return;
  }
  if constexpr (P.deep && std::is_same_v<Word, Int8Quad>) {
    const std::int64_t depth = s.y.taps * s.x.taps * channels;
    if (depth < least_int8_depth || depth > most_int8_depth) return slide(T{});
  }
  if constexpr (P.windows) {
    const bool pointwise = s.y.taps * s.x.taps == 1 && s.y.stride * s.x.stride * s.y.spread * s.x.spread == 1;
    if (!P.one_pixel || !pointwise) {
      if constexpr (compiled_for_amx && !std::is_same_v<T, Word>) {
        const bool deep = s.y.taps * s.x.taps * channels >= least_gathered_depth;
        if (!deep || !has_amx()) return slide(Word{});
        const Range mine = worker.part(images * s.y.places);
        return correlate_gathered<Word>(s, channels, filters, source, filter, mine, worker, epilogue);
      } else {
        return slide(Word{});
      }
    }
  }
  if constexpr (P.one_pixel) {
    detail::correlate_pixels<P, Backend>(s, images, channels, filters, source, filter, worker, epilogue);
  }
}

}  // namespace crochet::kernel::CROCHET_ISA

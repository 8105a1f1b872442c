// SPDX-License-Identifier: Apache-2.0
// The gradient of a convolution's filter: register tiles of the filter, summed over the positions of one image after
// the other.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/filter_sums.hpp>
#include <crochet/kernels/cpu/conv/paths.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/tile.hpp>
#include <crochet/kernels/cpu/conv/upstream.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Word: what the tiles read (words.hpp). From: Upstream or PooledUpstream.
template <class T, class Word, class From, ConvolutionPaths P>
class FilterGradient : public FilterSums<T> {
 public:
  using FilterSums<T>::rows;
  using FilterSums<T>::size;
  using FilterSums<T>::width;

  FilterGradient(const Slide& slide, std::int64_t channels, std::int64_t filters, const From& upstream)
      : FilterSums<T>(slide.y.taps * slide.x.taps * channels, filters),
        y_(slide.y),
        x_(slide.x),
        channels_(channels),
        filters_(filters),
        run_(slide.x.dilation == 1 ? slide.x.taps * channels : channels),
        border_(slide, channels, run_ < worth_a_run),
        upstream_(upstream) {}

  /// The size of the scratch memory in elements.
  std::int64_t scratch() const { return image_room() + up_room() + table_room() + words_room(); }

  /// Computes rows `of_filter` of the sums over the images in `mine`. `scratch` starts on a cache line.
  void sum(const T* images, Range mine, Range of_filter, T* sums, T* scratch) {
    rows_ = of_filter;
    __builtin_memset(sums, 0, static_cast<std::size_t>(size()) * sizeof(T));
    sums_ = sums;
    image_ = scratch;
    up_ = image_ + image_room();
    table_ = reinterpret_cast<std::int64_t*>(up_ + up_room());
    words_ = reinterpret_cast<Word*>(up_ + up_room() + table_room());
    if (run_ < worth_a_run) fill_table();
    for (std::int64_t n = mine.from; n < mine.to; ++n) {
      const T* image = border_.around(images + n * y_.source * x_.source * channels_, image_);
      add(to_words(image, border_.size(), x_.stride * channels_, words_), n);
    }
  }

 private:
  /// The minimum length of contiguous rows for efficient tiles. Below it, a table joins the rows of all taps.
  static constexpr std::int64_t worth_a_run = 8;
  static constexpr int native_per_panel = static_cast<int>(width / native_lanes<T>);
  static constexpr bool in_pairs = !std::is_same_v<T, Word>;

  std::int64_t image_room() const { return border_.empty() ? 0 : whole_lines(border_.size()); }
  std::int64_t up_room() const { return whole_lines(upstream_.room(y_.places)); }
  std::int64_t table_room() const {
    return whole_lines((2 * y_.places + rows()) * static_cast<std::int64_t>(sizeof(std::int64_t) / sizeof(T)));
  }
  /// For the words of an image, and of a panel of the upstream.
  std::int64_t words_room() const {
    return in_pairs ? whole_lines(border_.size()) + y_.places * words_of_row() * width : 0;
  }
  std::int64_t words_of_row() const { return words_in<Word>(x_.places); }

  void fill_table() {
    std::int64_t* row = table_ + 2 * y_.places;
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      for (std::int64_t k = 0; k < x_.taps; ++k) {
        for (std::int64_t c = 0; c < channels_; ++c) {
          *row++ = i * y_.dilation * border_.pitch() + k * x_.dilation * channels_ + c;
        }
      }
    }
  }

  /// Adds one image's contribution.
  void add(const Word* image, std::int64_t n) {
    for (std::int64_t j = 0; j < filters_; j += width) {
      const std::int64_t some = filters_ - j < width ? filters_ - j : width;
      const Panel<Word> up = upstream(n, j, some);
      T* sums = sums_ + j * rows();
      choose_width<T, P>(
          some, [&] { add_panel<native_per_panel>(image, up, sums); }, [&] { add_panel<1>(image, up, sums); });
    }
  }

  /// Channels [j, j + some) of the upstream of image n as words of two places of a row.
  Panel<Word> upstream(std::int64_t n, std::int64_t j, std::int64_t some) {
    const Panel<T> up = upstream_.panel(n, j, some, {0, y_.places}, up_);
    if constexpr (in_pairs) {
      Word* const words = words_ + whole_lines(border_.size());
      for (std::int64_t y = 0; y < y_.places; ++y) {
        for (std::int64_t k = 0; k < words_of_row(); ++k) {
          const T* first = up.data + (y * x_.places + 2 * k) * up.pitch;
          const T* second = 2 * k + 1 < x_.places ? first + up.pitch : nullptr;
          round_lines(first, second, width, words + (y * words_of_row() + k) * width);
        }
      }
      return {words, width};
    } else {
      return up;
    }
  }

  template <int N>
  void add_panel(const Word* image, Panel<Word> up, T* sums) {
    Segments s{.left_at = table_,
               .panel_at = table_ + y_.places,
               .count = 0,
               .depth = words_of_row() - (ends_in_half<Word>(x_.places) ? 1 : 0),
               .step = numbers_in<Word> * x_.stride * channels_,
               .pitch = up.pitch,
               .rows = table_ + 2 * y_.places,
               .half = ends_in_half<Word>(x_.places)};
    // Every tile reads the upstream's whole panel, so it is processed in groups of rows that fit a near cache.
    const std::int64_t some = rows_at_once();
    for (std::int64_t y = 0; y < y_.places; y += some) {
      const Range places{y, y + some < y_.places ? y + some : y_.places};
      run_ < worth_a_run ? add_table<N>(image, up, places, s, sums) : add_runs<N>(image, up, places, s, sums);
    }
  }
  std::int64_t rows_at_once() const {
    constexpr std::int64_t line = 64;
    // Tall tiles reuse more of what they read, so the second-level cache is fast enough for them.
    constexpr std::int64_t cache = tallest_tile > 8 ? 64 * 1024 : 24 * 1024;
    const std::int64_t row = x_.places * (width * static_cast<std::int64_t>(sizeof(T)) + line);
    return row > cache ? 1 : cache / row;
  }

  /// Adds the rows of all taps together, through a table of offsets.
  template <int N>
  void add_table(const Word* image, Panel<Word> up, Range places, Segments s, T* sums) {
    for (std::int64_t y = places.from; y < places.to; ++y) push(s, y, y * y_.stride);
    add_rows<N, RowsAt::table>({0, rows()}, image, up.data, s, sums);
  }
  /// Adds runs of rows that are contiguous in the image.
  template <int N>
  void add_runs(const Word* image, Panel<Word> up, Range places, Segments s, T* sums) {
    for (std::int64_t i = 0; i < y_.taps; ++i) {
      s.count = 0;
      for (std::int64_t y = places.from; y < places.to; ++y) {
        if (const std::int64_t row = y_.at(y, i); row >= 0) push(s, y, row);
      }
      for (std::int64_t q = 0; q < x_.taps * channels_; q += run_) {
        const std::int64_t first = i * x_.taps * channels_ + q, dilated = q / channels_ * (x_.dilation - 1) * channels_;
        add_rows<N, RowsAt::adjacent>({first, first + run_}, image + q + dilated, up.data, s, sums);
      }
    }
  }
  void push(Segments& s, std::int64_t y, std::int64_t row) {
    table_[s.count] = row * border_.pitch();
    table_[y_.places + s.count++] = y * words_of_row() * s.pitch;
  }

  /// Adds the rows in `some` that this worker computes. `image` points to the first.
  template <int N, RowsAt At>
  void add_rows(Range some, const Word* image, const Word* upstream, Segments s, T* sums) {
    const std::int64_t skipped = rows_.from > some.from ? rows_.from - some.from : 0;
    const std::int64_t n = (rows_.to < some.to ? rows_.to : some.to) - some.from - skipped;
    if (n <= 0) return;
    At == RowsAt::table ? static_cast<void>(s.rows += skipped) : static_cast<void>(image += skipped);
    sums += (some.from + skipped) * width;
    add_convolution_rows<N, At>(n, image, upstream, s, sums);
  }

  Axis y_, x_;
  std::int64_t channels_, filters_, run_;
  Border border_;
  From upstream_;
  Range rows_;
  T* sums_ = nullptr;
  T* image_ = nullptr;
  T* up_ = nullptr;
  Word* words_ = nullptr;
  std::int64_t* table_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA

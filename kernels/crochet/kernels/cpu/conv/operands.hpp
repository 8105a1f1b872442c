// SPDX-License-Identifier: Apache-2.0
// The operands of a convolution as its tiles read them: an image with a border of zeros, and panels of the filter, both
// in words (words.hpp). Runs of the filter, which a window reads as runs of neighbours in the image, begin a word each.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/words.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16_panel.hpp>
#include <crochet/kernels/cpu/tiles/int8_panel.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// A filter [runs * run, filters].
template <class T>
struct ConvolutionFilter {
  Matrix<T> matrix;
  std::int64_t filters, runs, run;

  std::int64_t depth() const { return runs * run; }
  std::int64_t panels() const { return (filters + panel_width<T> - 1) / panel_width<T>; }
  std::int64_t width_of_panel(std::int64_t j) const {
    return filters - j < panel_width<T> ? filters - j : panel_width<T>;
  }
};

/// Numbers as they are, read in place where that is possible.
template <class T, class Word>
class ConvolutionOperands {
 public:
  ConvolutionOperands(const ConvolutionFilter<T>& filter, const Border& border) : filter_(filter), border_(border) {
    // A large matrix is slow to read by columns. Rows that do not fill a panel must not be read past their end.
    constexpr std::int64_t large = std::int64_t{1} << 18;
    const std::int64_t bytes = filter.depth() * filter.filters * static_cast<std::int64_t>(sizeof(T));
    const bool unsuitable = filter.filters % panel_width<T> != 0 || (bytes > large && filter.filters > panel_width<T>);
    copies_ = filter.matrix.panel == 0 && unsuitable;
  }
  /// Whether an image should be multiplied by all panels before the next one.
  bool image_by_image() const { return !copies_; }
  /// The size of the memory for begin(), in elements.
  std::int64_t room() const { return image_room() + (copies_ ? panel_scratch<T>(filter_.depth()) : 0); }
  void begin(T* room) { room_ = room; }
  std::int64_t width_of_panel(std::int64_t j) const { return filter_.width_of_panel(j); }

  const T* image(const T* from) { return border_.around(from, room_); }
  /// Columns [j, j + width) of the filter.
  Panel<T> panel(std::int64_t j, std::int64_t width) {
    if (!copies_) return {filter_.matrix.at(0, j), filter_.matrix.row};
    T* const panel = room_ + image_room();
    detail::copy_panel(filter_.matrix, filter_.depth(), j, width, panel);
    return {panel, panel_width<T>};
  }

 private:
  std::int64_t image_room() const { return border_.empty() ? 0 : whole_lines(border_.size()); }

  ConvolutionFilter<T> filter_;
  Border border_;
  bool copies_ = false;
  T* room_ = nullptr;
};

/// Rounded numbers are copies. Those of the filter are made once for all images.
class RoundedOperands {
 public:
  RoundedOperands(const ConvolutionFilter<float>& filter, const Border& border) : filter_(filter), border_(border) {}
  static bool image_by_image() { return true; }
  std::int64_t width_of_panel(std::int64_t j) const { return filter_.width_of_panel(j); }

 protected:
  std::int64_t image_room() const { return whole_lines(border_.size()); }
  std::int64_t padded_room() const { return border_.empty() ? 0 : image_room(); }
  /// Calls use(first column, columns, number) for each panel.
  template <class Use>
  void each_panel(Use use) const {
    for (std::int64_t p = 0; p < filter_.panels(); ++p) {
      const std::int64_t j = p * panel_width<float>;
      use(j, filter_.width_of_panel(j), p);
    }
  }

  ConvolutionFilter<float> filter_;
  Border border_;
};

template <>
class ConvolutionOperands<float, Bfloat16Pair> : public RoundedOperands {
 public:
  using RoundedOperands::RoundedOperands;

  std::int64_t room() const {
    return padded_room() + image_room() + (filter_.panels() * filter_.runs + 1) * run_room();
  }
  void begin(float* room) {
    padded_ = room;
    words_ = reinterpret_cast<Bfloat16Pair*>(room + padded_room());
    panels_ = words_ + image_room();
    Bfloat16Pair* to = panels_;
    Bfloat16Pair* const lines = panels_ + filter_.panels() * filter_.runs * run_room();
    each_panel([&](std::int64_t j, std::int64_t width, std::int64_t) {
      Matrix<float> run = filter_.matrix;
      for (std::int64_t r = 0; r < filter_.runs; ++r, run.data += filter_.run * run.row, to += run_room()) {
        detail::rounded_panel(run, filter_.run, j, width, to, lines);
      }
    });
  }

  const Bfloat16Pair* image(const float* from) {
    return to_words(border_.around(from, padded_), border_.size(), 1, words_);
  }
  Panel<Bfloat16Pair> panel(std::int64_t j, std::int64_t) const {
    return {panels_ + j / panel_width<float> * filter_.runs * run_room(), panel_width<float>};
  }

 private:
  std::int64_t run_room() const { return pairs_in(filter_.run) * panel_width<float>; }

  float* padded_ = nullptr;
  Bfloat16Pair *words_ = nullptr, *panels_ = nullptr;
};

/// Results from sums of products of integers.
template <int N>
struct Int8Results {
  detail::Quads offset[N];
  detail::native<float> scale[N];
  float scale_of_image;  ///< not multiplied with the others, because the product may be out of range

  CROCHET_ALWAYS_INLINE void make(const Int8Quad* sums, float* to) const {
    CROCHET_UNROLL
    for (int u = 0; u < N; ++u) {
      detail::Quads sum;
      __builtin_memcpy(&sum, sums + u * native_lanes<float>, sizeof sum);
      const auto result = __builtin_convertvector(sum + offset[u], detail::native<float>) * scale[u] * scale_of_image;
      __builtin_memcpy(to + u * native_lanes<float>, &result, sizeof result);
    }
  }
};

/// An image has one scale, so its zeros are 128. A filter's column has one scale.
template <>
class ConvolutionOperands<float, Int8Quad> : public RoundedOperands {
 public:
  using RoundedOperands::RoundedOperands;

  std::int64_t room() const { return padded_room() + image_room() + filter_.panels() * panel_room() + scratch(); }
  void begin(float* room) {
    padded_ = room;
    words_ = reinterpret_cast<Int8Quad*>(room + padded_room());
    panels_ = words_ + image_room();
    auto* const scratch = reinterpret_cast<float*>(panels_ + filter_.panels() * panel_room());
    each_panel([&](std::int64_t j, std::int64_t width, std::int64_t p) {
      const Int8Panel to = panel_at(p);
      detail::round_panel(filter_.matrix, filter_.depth(), filter_.run, j, width, to, scratch);
      for (std::int64_t r = 0; r < filter_.runs; ++r) {
        detail::sum_columns(to.words + r * run_room(), quads_in(filter_.run), run_sums(to) + r * width_);
      }
    });
  }

  const Int8Quad* image(const float* from) {
    const std::int64_t n = border_.height * border_.width * border_.channels;
    const Int8Scale s = Int8Scale::of(largest_magnitude(from, n));
    scale_ = s.scale;
    return to_quads(border_.around(from, padded_), border_.size(), s.inverse, words_);
  }
  Panel<Int8Quad> panel(std::int64_t j, std::int64_t) {
    panel_ = panel_at(j / width_);
    return {panel_.words, width_};
  }
  /// Before results of a panel: no run is part of their windows.
  void clear_offset() { __builtin_memset(offset_, 0, sizeof offset_); }
  /// Run r is part of the windows of the next results.
  void add_offset(std::int64_t r) {
    for (std::int64_t c = 0; c < width_; ++c) offset_[c] += run_sums(panel_)[r * width_ + c];
  }
  /// What makes the results of these windows from the first N registers of sums.
  template <int N>
  Int8Results<N> results() const {
    Int8Results<N> r;
    __builtin_memcpy(r.offset, offset_, sizeof r.offset);
    __builtin_memcpy(r.scale, panel_.scales, sizeof r.scale);
    r.scale_of_image = scale_;
    return r;
  }

 private:
  static constexpr std::int64_t width_ = Int8Panel::width;
  std::int64_t run_room() const { return quads_in(filter_.run) * width_; }
  /// A panel, and the sums of its runs.
  std::int64_t panel_room() const { return Int8Panel::room(words()) + filter_.runs * width_; }
  std::int64_t words() const { return filter_.runs * quads_in(filter_.run); }
  std::int64_t scratch() const { return panel_scratch<float>(filter_.depth()); }
  Int8Panel panel_at(std::int64_t p) const { return Int8Panel::in(panels_ + p * panel_room(), words()); }
  static Int8Quad* run_sums(const Int8Panel& panel) { return panel.sums + width_; }

  float* padded_ = nullptr;
  Int8Quad *words_ = nullptr, *panels_ = nullptr;
  Int8Panel panel_{};
  float scale_ = 0;
  alignas(64) Int8Quad offset_[width_] = {};
};

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// Convolution of rounded images as a product: windows are copied to rows of memory, one behind another, and multiplied
// by the filter, for tile registers (tiles/amx.hpp), which read whole rows. The zeros around an image are multiplied
// like its numbers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/windows.hpp>
#include <crochet/kernels/cpu/conv/words.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16_product.hpp>
#include <crochet/kernels/cpu/tiles/int8_product.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The numbers of a window from which on copies cost a fraction of what tile registers save.
inline constexpr std::int64_t least_gathered_depth = 32;

/// The rows of positions whose windows are in memory at the same time: they fit a second-level cache. `words`: of one
/// row's windows.
constexpr std::int64_t rows_gathered(std::int64_t rows, std::int64_t words) {
  constexpr std::int64_t words_at_once = 64 * 1024;
  const std::int64_t fit = words_at_once / (words + 1);
  return fit < 1 ? 1 : (fit < rows ? fit : rows);
}

/// The operands of such a product. One image at a time is rounded.
template <class Word>
class GatheredOperands;

/// What they share. `image`: the numbers of one.
class GatheredSizes {
 public:
  GatheredSizes(std::int64_t depth, std::int64_t filters, std::int64_t image)
      : depth_(depth), filters_(filters), image_(image) {}

 protected:
  static constexpr std::int64_t width = panel_width<float>;
  std::int64_t panels() const { return (filters_ + width - 1) / width; }
  /// Calls use(first column, columns) for each panel of the filter.
  template <class Use>
  void each_panel(Use use) const {
    for (std::int64_t j = 0; j < filters_; j += width) use(j, filters_ - j < width ? filters_ - j : width);
  }
  /// Multiplies rows of windows, the first of which is that of result `first`, by the panels panel(first column).
  template <class Product, class PanelAt, class Epilogue>
  void multiply_by(PanelAt panel, Product product, std::int64_t first, std::int64_t rows,
                   const Epilogue& epilogue) const {
    product.first = first;
    const auto next = [&](std::int64_t j, std::int64_t) { product.panel = panel(j); };
    product.template multiply<ProductPaths{}>({first, first + rows}, {0, filters_}, next, epilogue);
  }

  std::int64_t depth_, filters_, image_;
};

template <>
class GatheredOperands<Bfloat16Pair> : public GatheredSizes {
 public:
  using Number = std::uint16_t;
  static constexpr Number outside = 0;

  using GatheredSizes::GatheredSizes;

  std::int64_t pitch() const { return amx_whole(pairs_in(depth_)); }
  /// The scratch memory for rows of windows and all else, in floats.
  std::int64_t room(std::int64_t rows) const {
    return pitch() * (amx_whole(rows) + panels() * width) + lines() + image_room() + copied_beyond + amx_alignment;
  }
  void begin(const Matrix<float>& filter, std::int64_t rows, float* room) {
    panels_ = amx_aligned(reinterpret_cast<Bfloat16Pair*>(room));
    rows_ = panels_ + panels() * pitch() * width;
    rounded_ = rows_ + amx_whole(rows) * pitch() + copied_beyond;
    each_panel([&](std::int64_t j, std::int64_t n) {
      detail::rounded_panel(filter, depth_, j, n, panel(j), rounded_ + image_room());
      detail::clear_words(panel(j), pairs_in(depth_), pitch());
    });
  }
  const Number* image(const float* from) {
    round_line(from, image_, rounded_);
    return reinterpret_cast<const Number*>(rounded_);
  }
  /// Rows of windows of this image, from row i on.
  Number* rows(std::int64_t i, std::int64_t) { return reinterpret_cast<Number*>(rows_ + i * pitch()); }

  /// Multiplies rows of windows, the first of which is that of result `first`.
  template <class Epilogue>
  void multiply(std::int64_t first, std::int64_t rows, const Epilogue& epilogue) {
    detail::PairedProduct product;
    product.a = {rows_, pitch(), 1};
    product.pairs = pitch();
    multiply_by([this](std::int64_t j) { return panel(j); }, product, first, rows, epilogue);
  }

 private:
  std::int64_t lines() const { return pairs_in(depth_) * width; }
  std::int64_t image_room() const { return pairs_in(image_) + copied_beyond; }
  Bfloat16Pair* panel(std::int64_t j) const { return panels_ + j * pitch(); }

  Bfloat16Pair *panels_ = nullptr, *rows_ = nullptr, *rounded_ = nullptr;
};

template <>
class GatheredOperands<Int8Quad> : public GatheredSizes {
 public:
  using Number = std::uint8_t;
  static constexpr Number outside = 128;

  using GatheredSizes::GatheredSizes;

  std::int64_t pitch() const { return Int8Rows::pitch_of(depth_); }
  std::int64_t room(std::int64_t rows) const {
    return amx_whole(rows) * pitch() + copied_beyond + panels() * panel_room() + rows + image_room() +
           panel_scratch<float>(depth_) + 2 * amx_alignment;
  }
  void begin(const Matrix<float>& filter, std::int64_t rows, float* room) {
    panels_ = amx_aligned(reinterpret_cast<Int8Quad*>(room));
    rows_.words = amx_aligned(panels_ + panels() * panel_room());
    rows_.pitch = pitch();
    rounded_ = reinterpret_cast<Number*>(rows_.words + amx_whole(rows) * pitch() + copied_beyond);
    rows_.scales = reinterpret_cast<float*>(rounded_) + image_room();
    each_panel([&](std::int64_t j, std::int64_t n) {
      const Int8Panel to = panel(j);
      detail::round_panel(filter, depth_, depth_, j, n, to, rows_.scales + rows);
      detail::clear_words(to.words, quads_in(depth_), words());
      detail::sum_columns(to.words, words(), to.sums);
    });
  }
  const Number* image(const float* from) {
    const Int8Scale s = Int8Scale::of(largest_magnitude(from, image_));
    scale_ = s.scale;
    round_to_bytes(from, image_, s.inverse, outside, rounded_);
    return rounded_;
  }
  Number* rows(std::int64_t i, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) rows_.scales[i + k] = scale_;
    return reinterpret_cast<Number*>(rows_.words + i * pitch());
  }
  template <class Epilogue>
  void multiply(std::int64_t first, std::int64_t rows, const Epilogue& epilogue) {
    detail::Int8Product product;
    product.a = rows_;
    product.words = words();
    multiply_by([this](std::int64_t j) { return panel(j); }, product, first, rows, epilogue);
  }

 private:
  std::int64_t words() const { return amx_whole(quads_in(depth_)); }
  std::int64_t panel_room() const { return Int8Panel::room(words()); }
  std::int64_t image_room() const { return quads_in(image_) + copied_beyond; }
  Int8Panel panel(std::int64_t j) const { return Int8Panel::in(panels_ + j / width * panel_room(), words()); }

  Int8Quad* panels_ = nullptr;
  Int8Rows rows_{};
  Number* rounded_ = nullptr;
  float scale_ = 0;
};

/// Convolves the rows of positions in `mine`, counted over all images. `filter`: [taps * channels, filters]. The order
/// of sums does not depend on `mine`.
template <class Word, class Epilogue>
void correlate_gathered(const Slide& slide, std::int64_t channels, std::int64_t filters, const float* images,
                        const Matrix<float>& filter, Range mine, Worker& worker, const Epilogue& epilogue) {
  using Operands = GatheredOperands<Word>;
  const std::int64_t size = slide.y.source * slide.x.source * channels, width = slide.x.places;
  if (mine.size() <= 0 || filters == 0 || width == 0) return;
  const Windows<typename Operands::Number> windows(slide, channels, Operands::outside);
  Operands operands(windows.depth(), filters, size);
  const std::int64_t pitch = operands.pitch(), some = rows_gathered(mine.size(), width * pitch);
  operands.begin(filter, some * width, worker.scratch<float>(operands.room(some * width)));
  const typename Operands::Number* image = nullptr;
  for (std::int64_t ready = -1; mine.from < mine.to;) {
    const std::int64_t first = mine.from;
    for (; mine.from < mine.to && mine.from < first + some; ++mine.from) {
      const std::int64_t n = mine.from / slide.y.places;
      if (n != ready) image = operands.image(images + n * size);
      ready = n;
      auto* const to = operands.rows((mine.from - first) * width, width);
      windows.row(image, mine.from % slide.y.places, to, pitch * numbers_in<Word>);
    }
    operands.multiply(first * width, (mine.from - first) * width, epilogue);
  }
}

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// The gradient of a convolution's filter as a product of bfloat16 numbers: the transposed windows of an image
// (gathered.hpp) by its upstream gradient, for tile registers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/filter_sums.hpp>
#include <crochet/kernels/cpu/conv/gathered.hpp>
#include <crochet/kernels/cpu/conv/upstream.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// From: Upstream or PooledUpstream.
template <class From>
class GatheredFilterGradient : public FilterSums<float> {
 public:
  GatheredFilterGradient(const Slide& slide, std::int64_t channels, std::int64_t filters, const From& upstream)
      : FilterSums<float>(slide.y.taps * slide.x.taps * channels, filters),
        windows_(slide, channels, 0),
        image_(slide.y.source * slide.x.source * channels),
        lines_(slide.y.places),
        places_(slide.x.places),
        filters_(filters),
        group_(rows_gathered(lines_, places_ * pitch() / 2)),
        upstream_(upstream) {}

  /// The size of the scratch memory in elements.
  std::int64_t scratch() const {
    return whole_lines(rows()) * depth() + depth() * width + gathered_room() + image_room() +
           whole_lines(upstream_.room(group_));
  }

  /// Computes rows `of_filter` of the sums over the images in `mine`. `scratch` starts on a cache line.
  void sum(const float* images, Range mine, Range of_filter, float* sums, float* scratch) {
    __builtin_memset(sums, 0, static_cast<std::size_t>(size()) * sizeof *sums);
    left_ = reinterpret_cast<Bfloat16Pair*>(scratch);
    panel_ = left_ + whole_lines(rows()) * depth();
    gathered_ = reinterpret_cast<Number*>(panel_ + depth() * width);
    rounded_ = panel_ + depth() * width + gathered_room();
    float* const up = scratch + (rounded_ - left_) + image_room();
    detail::PairedProduct product;
    product.a = {left_, depth(), 1};
    product.panel = panel_;
    product.pairs = depth();
    product.first = of_filter.from;
    for (std::int64_t n = mine.from; n < mine.to; ++n) {
      round_line(images + n * image_, image_, rounded_);
      for (std::int64_t y = 0; y < lines_; y += group_) {
        const Range group{y, y + group_ < lines_ ? y + group_ : lines_};
        positions_ = group.size() * places_;
        gather(group);
        turn(of_filter);
        for (std::int64_t j = 0; j < filters_; j += width) {
          const std::int64_t some = filters_ - j < width ? filters_ - j : width;
          round_upstream(upstream_.panel(n, j, some, group, up), some);
          const AddTo<float> add{sums + j * rows(), width};
          product.multiply<ProductPaths{}>(
              of_filter, {0, width}, [](std::int64_t, std::int64_t) {}, add);
        }
      }
    }
  }

 private:
  using Number = std::uint16_t;
  static constexpr std::int64_t block = native_lanes<float>;

  /// The words of all positions of a group, two to a word: whole tile registers.
  std::int64_t depth() const { return whole_lines(pairs_in(group_ * places_)); }
  /// The distance of windows, in numbers, and the room for them in words.
  std::int64_t pitch() const { return 2 * whole_lines(pairs_in(rows())); }
  std::int64_t gathered_room() const { return group_ * places_ * pitch() / 2 + copied_beyond; }
  std::int64_t image_room() const { return whole_lines(pairs_in(image_)) + copied_beyond; }

  void gather(Range group) const {
    const auto* const from = reinterpret_cast<const Number*>(rounded_);
    for (std::int64_t y = group.from; y < group.to; ++y) {
      windows_.row(from, y, gathered_ + (y - group.from) * places_ * pitch(), pitch());
    }
  }

  /// Element i of the windows at positions 2k and 2k + 1 becomes word k of row i.
  [[gnu::noinline]] void turn(Range of_filter) const {
    Bfloat16Pair lines[block * block];
    for (std::int64_t k = 0; k < depth(); k += block) {
      for (std::int64_t i = of_filter.from; i < of_filter.to; i += block) {
        for (std::int64_t line = 0; line < block; ++line) pair(k + line, i, lines + line * block);
        transpose_block(lines, block, left_ + (i - of_filter.from) * depth() + k, depth());
      }
    }
  }
  /// Elements i, i + 1, ... of the windows at positions 2k and 2k + 1, of which there may be no second or no first.
  void pair(std::int64_t k, std::int64_t i, Bfloat16Pair* to) const {
    using Half = simd::vec<Number, block>;
    const std::int64_t left = positions_ - 2 * k;
    const Number* const from = gathered_ + 2 * k * pitch() + i;
    Half first{}, second{};
    if (left > 0) __builtin_memcpy(&first, from, sizeof first);
    if (left > 1) __builtin_memcpy(&second, from + pitch(), sizeof second);
    using Words = detail::native<Bfloat16Pair>;
    const Words words = __builtin_convertvector(first, Words) | __builtin_convertvector(second, Words) << 16;
    __builtin_memcpy(to, &words, sizeof words);
  }

  /// The upstream's `columns`, as a panel of words of two positions.
  void round_upstream(const Panel<float>& up, std::int64_t columns) {
    const std::int64_t pairs = pairs_in(positions_);
    detail::clear_words(panel_, columns < width ? 0 : pairs, depth());
    for (std::int64_t k = 0; k < pairs; ++k) {
      const float* const first = up.data + 2 * k * up.pitch;
      const bool both = 2 * k + 1 < positions_;
      round_lines(first, both ? first + up.pitch : nullptr, columns, panel_ + k * width);
    }
  }

  Windows<Number> windows_;
  std::int64_t image_, lines_, places_, filters_;
  std::int64_t group_;  ///< the rows of positions that are gathered together; depends on sizes only, as do the sums
  std::int64_t positions_ = 0;  ///< of the group
  From upstream_;
  Bfloat16Pair *left_ = nullptr, *panel_ = nullptr, *rounded_ = nullptr;
  Number* gathered_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA

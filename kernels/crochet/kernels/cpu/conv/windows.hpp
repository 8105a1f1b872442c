// SPDX-License-Identifier: Apache-2.0
// Windows of a convolution copied to rows of memory: the left operand of a product.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <cstdint>

namespace crochet::kernel::CROCHET_ISA {

/// Numbers that may be read, and written, behind the end of what is copied.
inline constexpr std::int64_t copied_beyond = 64;

/// Copies windows of an image of Number, from the first number to the last: what is written behind the end of a copy is
/// written again. `outside`: in place of what is no part of the image.
template <class Number>
class Windows {
 public:
  Windows(const Slide& slide, std::int64_t channels, Number outside)
      : y_(slide.y), x_(slide.x), channels_(channels), run_(x_.taps * channels) {
    for (std::int64_t i = 0; i < step; ++i) outside_[i] = outside;
    while (whole_.from < x_.places && !is_whole(whole_.from)) ++whole_.from;
    whole_.to = whole_.from;
    while (whole_.to < x_.places && is_whole(whole_.to)) ++whole_.to;
  }

  /// The numbers of a window.
  std::int64_t depth() const { return y_.taps * run_; }

  /// The windows of row y of the positions, `pitch` apart. What is behind a window becomes `outside`.
  void row(const Number* image, std::int64_t y, Number* to, std::int64_t pitch) const {
    const Image from{image, y, to, pitch};
    windows<false>(from, {0, whole_.from});
    const std::int64_t copies = (run_ + step - 1) / step;  // 1 to 3, and 6: of windows of 3 pixels of up to 32 channels
    copies == 1   ? windows<true, 1>(from, whole_)
    : copies == 2 ? windows<true, 2>(from, whole_)
    : copies == 3 ? windows<true, 3>(from, whole_)
    : copies == 6 ? windows<true, 6>(from, whole_)
                  : windows<true>(from, whole_);
    windows<false>(from, {whole_.to, x_.places});
  }

 private:
  static constexpr std::int64_t bytes = 32, step = bytes / static_cast<std::int64_t>(sizeof(Number));

  struct Image {
    const Number* data;
    std::int64_t y;
    Number* to;
    std::int64_t pitch;
  };

  /// The windows of a range of positions. Whole: those of whole_. Copies: registers of a row of a window, if known.
  template <bool Whole, int Copies = 0>
  [[gnu::noinline]] void windows(const Image& image, Range places) const {
    const std::int64_t line = x_.source * channels_, behind = image.pitch - depth();
    for (std::int64_t x = places.from; x < places.to; ++x) {
      Number* to = image.to + x * image.pitch;
      const Number* const first = image.data + (Whole ? at(x_, x, 0) * channels_ : 0);
      for (std::int64_t i = 0; i < y_.taps; ++i, to += run_) {
        const std::int64_t from = at(y_, image.y, i);
        if (from < 0) {
          fill(to, run_);
        } else if constexpr (Whole) {
          copy<Copies>(first + from * line, run_, to);
        } else {
          taps(first + from * line, x, to);
        }
      }
      fill(to, behind);
    }
  }
  /// Whether the taps of a row of the windows at x are neighbours in the image.
  bool is_whole(std::int64_t x) const {
    const std::int64_t first = x_.at(x, 0), last = x_.at(x, x_.taps - 1);
    return first >= 0 && last - first == x_.taps - 1;
  }
  /// axis.at(), without its quotients where they are none.
  static std::int64_t at(const Axis& axis, std::int64_t place, std::int64_t tap) {
    if (axis.spread != 1) return axis.at(place, tap);
    const std::int64_t from = axis.spread_index(place, tap);
    return from >= 0 && from < axis.source ? from : -1;
  }
  void taps(const Number* row, std::int64_t x, Number* to) const {
    for (std::int64_t k = 0; k < x_.taps; ++k, to += channels_) {
      const std::int64_t from = at(x_, x, k);
      from < 0 ? fill(to, channels_) : copy(row + from * channels_, channels_, to);
    }
  }
  template <int Copies = 0>
  static void copy(const Number* from, std::int64_t n, Number* to) {
    const std::int64_t end = Copies == 0 ? n : Copies * step;
    for (std::int64_t i = 0; i < end; i += step) __builtin_memcpy(to + i, from + i, bytes);
  }
  void fill(Number* to, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; i += step) __builtin_memcpy(to + i, outside_, bytes);
  }

  Axis y_, x_;
  std::int64_t channels_, run_;
  Range whole_{0, 0};  ///< the windows whose rows are neighbours in the image
  Number outside_[step];
};

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// The geometry of windows: one dimension of a convolution, forward and backward, and images with a border of zeros.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// One dimension. Tap i of the window at position y reads the source at (y * stride + i * dilation - before) / spread,
/// if that is an integer inside the source. `spread` is the distance of source elements (input dilation): the stride of
/// the forward pass, in the backward pass.
struct Axis {
  std::int64_t source, places, taps, stride, dilation, before, spread = 1;

  Axis(std::int64_t n, std::int64_t out, std::int64_t window, std::int64_t step, std::int64_t apart)
      : source(n), places(out), taps(window), stride(step), dilation(apart), before(0) {
    const std::int64_t padding = (out - 1) * step + reach() + 1 - n;
    before = padding > 0 ? padding / 2 : 0;
  }
  /// The axis of the gradient: forward and backward exchanged, with the window reversed.
  Axis back() const {
    Axis b = *this;
    b.source = places;
    b.places = source;
    b.stride = 1;
    b.before = reach() - before;
    b.spread = stride;
    return b;
  }

  /// The distance from the window's first tap to its last.
  std::int64_t reach() const { return (taps - 1) * dilation; }
  /// y * stride + i * dilation - before: `spread` times the source's index.
  std::int64_t spread_index(std::int64_t y, std::int64_t i) const { return y * stride + i * dilation - before; }
  /// The source's index; -1 if there is none.
  std::int64_t at(std::int64_t y, std::int64_t i) const {
    const std::int64_t s = spread_index(y, i);
    return s >= 0 && s % spread == 0 && s / spread < source ? s / spread : -1;
  }
  /// The number of elements that windows extend past the ends of the source.
  std::int64_t missing_before() const { return before > 0 ? (before + spread - 1) / spread : 0; }
  std::int64_t missing_after() const {
    if (places == 0 || taps == 0) return 0;
    const std::int64_t last = spread_index(places - 1, taps - 1), beyond = last < 0 ? 0 : last / spread - source + 1;
    return beyond > 0 ? beyond : 0;
  }
};

/// Both dimensions, from the attributes of op::conv2d. `image` and `out` are [n, h, w, c].
struct Slide {
  Axis y, x;

  Slide(const Operand& image, const Operand& out, const Attributes& a)
      : y(image[1], out[1], a.ints[0], a.ints[2], a.ints[5]), x(image[2], out[2], a.ints[1], a.ints[3], a.ints[6]) {}
  Slide back() const {
    Slide b = *this;
    b.y = y.back();
    b.x = x.back();
    return b;
  }
};

/// The layout of one image with the border of zeros that its windows read.
struct Border {
  std::int64_t top, bottom, left, right, height, width, channels;

  /// `rows` = false: border on the left and right only.
  Border(const Slide& s, std::int64_t c, bool rows)
      : top(rows ? s.y.missing_before() : 0),
        bottom(rows ? s.y.missing_after() : 0),
        left(s.x.missing_before()),
        right(s.x.missing_after()),
        height(s.y.source),
        width(s.x.source),
        channels(c) {}

  bool empty() const { return top + bottom + left + right == 0; }
  /// The distance of rows, in elements.
  std::int64_t pitch() const { return (left + width + right) * channels; }
  std::int64_t size() const { return (top + height + bottom) * pitch(); }

  /// Returns the image itself if it needs no border, else a copy with one in `room`, which has size() elements. Element
  /// (0, 0) of the image is at row `top`, column `left`.
  template <class T>
  const T* around(const T* image, T* room) const {
    if (empty()) return image;
    T* to = zeros(room, top * pitch());
    for (std::int64_t y = 0; y < height; ++y, image += width * channels) {
      to = zeros(to, left * channels);
      __builtin_memcpy(to, image, static_cast<std::size_t>(width * channels) * sizeof(T));
      to = zeros(to + width * channels, right * channels);
    }
    zeros(to, bottom * pitch());
    return room;
  }

 private:
  template <class T>
  static T* zeros(T* to, std::int64_t n) {
    __builtin_memset(to, 0, static_cast<std::size_t>(n) * sizeof(T));
    return to + n;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA

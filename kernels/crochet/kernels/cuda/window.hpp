// SPDX-License-Identifier: Apache-2.0
// The geometry of windows on a device: kernels/cpu/conv/slide.hpp for 32-bit sizes.
#pragma once
#include <crochet/kernels/cuda/call.hpp>

namespace crochet::cuda::detail {

/// One dimension. Tap i of the window at position y reads the source at (y * stride + i * dilation - before) / spread,
/// if that is an integer inside the source.
struct WindowAxis {
  int source, places, taps, stride, dilation, before, spread = 1;
  float inverse = 1;  ///< of spread

  CROCHET_DEVICE_INLINE WindowAxis(int n, int out, int window, int step, int apart)
      : source(n), places(out), taps(window), stride(step), dilation(apart), before(0) {
    const int padding = (out - 1) * step + reach() + 1 - n;
    before = padding > 0 ? padding / 2 : 0;
  }
  /// The axis of the gradient: forward and backward exchanged, with the window reversed.
  CROCHET_DEVICE_INLINE WindowAxis back() const {
    WindowAxis b = *this;
    b.source = places;
    b.places = source;
    b.stride = 1;
    b.before = reach() - before;
    b.spread = stride;
    b.inverse = 1.0F / static_cast<float>(stride);
    return b;
  }
  CROCHET_DEVICE_INLINE int reach() const { return (taps - 1) * dilation; }
  /// The source's index; -1 if there is none.
  CROCHET_DEVICE_INLINE int at(int y, int i) const { return inside(of_place(y) + of_tap(i)); }
  /// The same in parts: inside(of_place(y) + of_tap(i)).
  CROCHET_DEVICE_INLINE int of_place(int y) const { return y * stride - before; }
  CROCHET_DEVICE_INLINE int of_tap(int i) const { return i * dilation; }
  CROCHET_DEVICE_INLINE int inside(int s) const {
    const int at = spread == 1 ? s : quotient(s);
    if (static_cast<unsigned>(at) >= static_cast<unsigned>(source)) return -1;
    return at * spread == s ? at : -1;
  }
  /// s / spread if s is a multiple. The product with the rounded inverse is off by less than 256 for every int; a
  /// second product, of what is left, gives the difference. (An integer division is slower.)
  CROCHET_DEVICE_INLINE int quotient(int s) const {
    const int near = static_cast<int>(static_cast<float>(s) * inverse);
    return near + static_cast<int>(static_cast<float>(s - near * spread) * inverse + 256.5F) - 256;
  }
  /// The taps [from, to) of the window at position y that are inside, for windows without dilation.
  CROCHET_DEVICE_INLINE int first_inside(int y) const {
    const int first = y * stride - before;
    return first < 0 ? -first : 0;
  }
  CROCHET_DEVICE_INLINE int end_inside(int y) const {
    const int left = source - (y * stride - before);
    return left < taps ? left : taps;
  }
};

/// Both dimensions, from the attributes of op::conv2d. `image` and `out` are [n, h, w, c].
struct Window {
  WindowAxis y, x;

  CROCHET_DEVICE_INLINE Window(const Operand& image, const Operand& out, const Call& call)
      : Window(image[1], image[2], out[1], out[2], call) {}
  CROCHET_DEVICE_INLINE Window(int height, int width, int rows, int columns, const Call& call)
      : y(height, rows, call.attribute(0), call.attribute(2), call.attribute(5)),
        x(width, columns, call.attribute(1), call.attribute(3), call.attribute(6)) {}
  CROCHET_DEVICE_INLINE Window back() const {
    Window b = *this;
    b.y = y.back();
    b.x = x.back();
    return b;
  }
  CROCHET_DEVICE_INLINE int places() const { return y.places * x.places; }
  CROCHET_DEVICE_INLINE int pixels() const { return y.source * x.source; }
  CROCHET_DEVICE_INLINE int taps() const { return y.taps * x.taps; }
  /// The pixel that a tap reads at a place of image n, counted over all images; -1 if there is none.
  CROCHET_DEVICE_INLINE int pixel(int n, int place, int tap) const {
    const int row = y.at(place / x.places, tap / x.taps), column = x.at(place % x.places, tap % x.taps);
    return row < 0 || column < 0 ? -1 : (n * y.source + row) * x.source + column;
  }
};

}  // namespace crochet::cuda::detail

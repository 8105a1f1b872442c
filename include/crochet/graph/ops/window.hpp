// SPDX-License-Identifier: Apache-2.0
// Common parts of operations that slide a window over images: positions of windows, and the result's shape.
#pragma once
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet {

/// The treatment of borders, by TensorFlow's rule (tf.nn.convolution). `same` pads so that the output has ceil(n /
/// stride) positions, with more padding at the end if it is odd. `valid` does not pad.
enum class Padding : std::int32_t { valid, same };

/// A size, stride or dilation: one number for each dimension of an image.
struct Window {
  std::int32_t height = 1;
  std::int32_t width = 1;
};

namespace detail {
/// Attributes of all operations with windows: ints = {window height, width, stride height, width, padding, dilation
/// height, width}.
constexpr Attributes window_attributes(Window w, Window stride, Padding p, Window dilation = {1, 1}) {
  return {.ints = {w.height, w.width, stride.height, stride.width, static_cast<std::int32_t>(p), dilation.height,
                   dilation.width}};
}
/// Throws for a filter [height, width, ...] whose window is dynamic.
constexpr void want_static_window(const Shape& filter) {
  if (!filter[0].is_static() || !filter[1].is_static()) graph_error::window_does_not_fit();
}
/// The extent of a window whose elements are `dilation` apart.
constexpr std::int64_t extent_of_window(std::int64_t window, std::int64_t dilation) {
  if (window < 1 || dilation < 1) graph_error::window_does_not_fit();
  return (window - 1) * dilation + 1;
}
constexpr Extent places(const Extent& size, std::int64_t window, std::int64_t stride, Padding padding) {
  if (!size.is_static() || stride < 1) graph_error::window_does_not_fit();
  if (padding == Padding::same) return (size.factor + stride - 1) / stride;
  if (size.factor < window) graph_error::window_does_not_fit();
  return (size.factor - window) / stride + 1;
}
/// The result's shape: one position per window, with the given number of channels.
constexpr Shape slide(const Shape& image, const Attributes& a, const Extent& channels) {
  const auto padding = static_cast<Padding>(a.ints[4]);
  return {image[0], places(image[1], extent_of_window(a.ints[0], a.ints[5]), a.ints[2], padding),
          places(image[2], extent_of_window(a.ints[1], a.ints[6]), a.ints[3], padding), channels};
}
// The inputs whose images determine the result's images, one by one (Op::itemwise).
constexpr unsigned from_first(const Attributes&) { return 0b01; }
constexpr unsigned from_second(const Attributes&) { return 0b10; }
constexpr unsigned from_both(const Attributes&) { return 0b11; }
}  // namespace detail

}  // namespace crochet

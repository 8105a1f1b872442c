// SPDX-License-Identifier: Apache-2.0
// Two-dimensional convolution (cross-correlation, as everywhere in this field) of NHWC images with HWIO filters, and
// max pooling.
#pragma once
#include <crochet/graph/gradient_scope.hpp>

namespace crochet {

/// How a window meets the border: `same` pads with zeros so that the output has ceil(n / stride) places, more at the
/// end where the padding is odd; `valid` pads nothing. TensorFlow's rule.
enum class Padding : std::int32_t { valid, same };

struct Window {
  std::int32_t height = 1;
  std::int32_t width = 1;
};

namespace detail {
/// Attributes of everything that slides a window: ints = {window height, width, stride height, width, padding}.
constexpr Attributes window_attributes(Window w, Window stride, Padding p) {
  return {.ints = {w.height, w.width, stride.height, stride.width, static_cast<std::int32_t>(p)}};
}
constexpr Extent places(const Extent& size, std::int64_t window, std::int64_t stride, Padding padding) {
  if (!size.is_static() || window < 1 || stride < 1) graph_error::window_does_not_fit();
  if (padding == Padding::same) return (size.factor + stride - 1) / stride;
  if (size.factor < window) graph_error::window_does_not_fit();
  return (size.factor - window) / stride + 1;
}
constexpr Shape slide(const Shape& image, const Attributes& a, const Extent& channels) {
  const auto padding = static_cast<Padding>(a.ints[4]);
  return {image[0], places(image[1], a.ints[0], a.ints[2], padding), places(image[2], a.ints[1], a.ints[3], padding),
          channels};
}
constexpr TypedShape infer_conv2d(const OpInputs& in) {
  in.want_same_type(0, 1);
  in.want_floating(0);
  in.want_rank(0, 4);
  in.want_rank(1, 4);
  if (!(in.shape(0)[3] == in.shape(1)[2])) {
    graph_error::channels_differ(in.shape(0)[3].factor, in.shape(1)[2].factor);
  }
  return {in[0].dtype, slide(in.shape(0), in.attributes, in.shape(1)[3])};
}
constexpr TypedShape infer_max_pool(const OpInputs& in) {
  in.want_floating(0);
  in.want_rank(0, 4);
  return {in[0].dtype, slide(in.shape(0), in.attributes, in.shape(0)[3])};
}
// The gradients' results have the shape of what they are gradients of, which is their first input.
constexpr TypedShape infer_like_first(const OpInputs& in) { return in[0]; }
constexpr void gradient_of_conv2d(GradientScope& s);
constexpr void gradient_of_max_pool(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {image [n, h, w, c], filter [kh, kw, c, k]}; ints = {kh, kw, stride h, stride w, padding}.
inline constexpr Op conv2d{"conv2d", OpKind::kernel, detail::infer_conv2d, detail::gradient_of_conv2d, 3};
/// inputs = {filter, upstream}; the shape is the image's.
inline constexpr Op conv2d_image_gradient{"conv2d_image_gradient", OpKind::kernel};
/// inputs = {image, upstream}; the shape is the filter's.
inline constexpr Op conv2d_filter_gradient{"conv2d_filter_gradient", OpKind::kernel, nullptr, nullptr, 3};
/// inputs = {image}; ints as conv2d.
inline constexpr Op max_pool{"max_pool", OpKind::kernel, detail::infer_max_pool, detail::gradient_of_max_pool};
/// inputs = {image, upstream}: each window's upstream goes to its first greatest element.
inline constexpr Op max_pool_gradient{"max_pool_gradient", OpKind::kernel, detail::infer_like_first};
}  // namespace op

/// out[n, y, x, k] = sum over i, j, c of image[n, y * sh + i - top, x * sw + j - left, c] * filter[i, j, c, k].
/// image [n, h, w, c], filter [kh, kw, c, k] -> [n, oh, ow, k]. Heights and widths must be static.
constexpr Tensor conv2d(Tensor image, Tensor filter, Window stride = {1, 1}, Padding padding = Padding::same) {
  if (filter.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(filter.shape().rank));
  const Window w{static_cast<std::int32_t>(filter.shape()[0].factor),
                 static_cast<std::int32_t>(filter.shape()[1].factor)};
  const Attributes window = detail::window_attributes(w, stride, padding);
  return image.graph->apply(op::conv2d, window, image, filter);
}

/// The greatest element of each window, channel by channel: [n, h, w, c] -> [n, oh, ow, c]. Padding never wins.
constexpr Tensor max_pool(Tensor image, Window window, Window stride, Padding padding = Padding::valid) {
  const Attributes attributes = detail::window_attributes(window, stride, padding);
  return image.graph->apply(op::max_pool, attributes, image);
}
constexpr Tensor max_pool(Tensor image, std::int32_t size) { return max_pool(image, {size, size}, {size, size}); }

namespace detail {
constexpr void gradient_of_conv2d(GradientScope& s) {
  GraphBuilder& g = s.graph();
  const Tensor image = s.input(0), filter = s.input(1), up = s.full_upstream();
  if (s.wants(0)) {
    s.give(0, g.shaped(op::conv2d_image_gradient, {filter, up}, image.shape(), s.attributes()));
  }
  if (s.wants(1)) {
    s.give(1, g.shaped(op::conv2d_filter_gradient, {image, up}, filter.shape(), s.attributes()));
  }
}
constexpr void gradient_of_max_pool(GradientScope& s) {
  const Attributes attributes = s.attributes();
  s.give(0, s.graph().apply(op::max_pool_gradient, attributes, s.input(0), s.full_upstream()));
}
}  // namespace detail

}  // namespace crochet

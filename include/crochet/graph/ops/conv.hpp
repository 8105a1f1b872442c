// SPDX-License-Identifier: Apache-2.0
// Convolution (cross-correlation, as usual in deep learning) of NHWC images with HWIO filters.
#pragma once
#include <crochet/graph/ops/reshape.hpp>
#include <crochet/graph/ops/window.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_conv2d(const OpInputs& in) {
  in.want_same_type(0, 1);
  in.want_floating(0);
  in.want_rank(0, 4);
  in.want_rank(1, 4);
  want_static_window(in.shape(1));
  if (!(in.shape(0)[3] == in.shape(1)[2])) {
    graph_error::channels_differ(in.shape(0)[3].factor, in.shape(1)[2].factor);
  }
  return {in[0].dtype, slide(in.shape(0), in.attributes, in.shape(1)[3])};
}
constexpr TypedShape infer_turned_filter(const OpInputs& in) {
  const Shape& f = in.shape(0);
  return {in[0].dtype, {f[0], f[1], f[3], f[2]}};
}
constexpr void gradient_of_conv2d(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {image [n, h, w, c], filter [kh, kw, c, k]}; ints = {kh, kw, stride h, stride w, padding, dilation h,
/// dilation w}.
inline constexpr Op conv2d{
    "conv2d", OpKind::kernel, detail::infer_conv2d, detail::gradient_of_conv2d, 3, detail::from_first, 0b10};
/// inputs = {filter [kh, kw, c, k]} -> [kh, kw, k, c], rotated by 180 degrees. With it the gradient of the image is a
/// convolution too. A separate operation, so that a step rotates the filter only once.
inline constexpr Op turned_filter{.name = "turned_filter", .infer = detail::infer_turned_filter, .panel_inputs = 0b1};
/// inputs = {rotated filter, upstream}; ints as conv2d; the shape is the image's.
inline constexpr Op conv2d_image_gradient{"conv2d_image_gradient", OpKind::kernel, nullptr, nullptr, 3,
                                          detail::from_second};
/// inputs = {image, upstream}; ints as conv2d; the shape is the filter's. If the convolution is followed by a max
/// pooling with adjacent windows, the inputs may be {image, the pooling's upstream, its winners}, with ints[7] = window
/// height * 2^16 + window width. The convolution's upstream, which is mostly zeros, is then never stored.
inline constexpr Op conv2d_filter_gradient{"conv2d_filter_gradient", OpKind::kernel, nullptr, nullptr, 3};
}  // namespace op

/// 2D convolution (tf.nn.conv2d):
///   out[n, y, x, k] = sum over i, j, c of
///     image[n, y * sh + i * dh - top, x * sw + j * dw - left, c] * filter[i, j, c, k]
/// - Shapes: image [n, h, w, c], filter [kh, kw, c, k] -> [n, oh, ow, k]. Heights and widths must be static, also those
/// of the filter.
/// - `stride`: sh, sw; `dilation`: dh, dw; `padding`: determines top and left.
constexpr Tensor conv2d(Tensor image, Tensor filter, Window stride = {1, 1}, Padding padding = Padding::same,
                        Window dilation = {1, 1}) {
  if (filter.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(filter.shape().rank));
  const Window w{static_cast<std::int32_t>(filter.shape()[0].factor),
                 static_cast<std::int32_t>(filter.shape()[1].factor)};
  const Attributes window = detail::window_attributes(w, stride, padding, dilation);
  return image.graph->apply(op::conv2d, window, image, filter);
}

/// 1D convolution (tf.nn.conv1d): series [n, l, c], filter [kl, c, k] -> [n, ol, k].
constexpr Tensor conv1d(Tensor series, Tensor filter, std::int32_t stride = 1, Padding padding = Padding::same,
                        std::int32_t dilation = 1) {
  for (const Tensor& t : {series, filter}) {
    if (t.shape().rank != 3) graph_error::wrong_rank(3, static_cast<std::int64_t>(t.shape().rank));
  }
  const Shape s = series.shape(), f = filter.shape();
  const Tensor y = conv2d(reshape(series, {s[0], 1, s[1], s[2]}), reshape(filter, {1, f[0], f[1], f[2]}), {1, stride},
                          padding, {1, dilation});
  return reshape(y, {s[0], y.shape()[2], f[2]});
}

namespace detail {
// Y = X * W gives dX[y, x, c] = sum of dY W over the taps and the windows that cover (y, x), and dW = sum of X dY over
// the positions: Dumoulin and Visin, A guide to convolution arithmetic for deep learning, arXiv:1603.07285, section 4.
constexpr void gradient_of_conv2d(GradientScope& s) {
  GraphBuilder& g = s.graph();
  const Tensor image = s.input(0), filter = s.input(1), up = s.full_upstream();
  if (s.wants(0)) {
    const Tensor turned = g.apply(op::turned_filter, filter);
    s.give(0, g.shaped(op::conv2d_image_gradient, {turned, up}, image.shape(), s.attributes()));
  }
  if (s.wants(1)) {
    s.give(1, g.shaped(op::conv2d_filter_gradient, {image, up}, filter.shape(), s.attributes()));
  }
}
}  // namespace detail

}  // namespace crochet

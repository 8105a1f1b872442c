// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: every channel of an NHWC image has its own filters.
#pragma once
#include <crochet/graph/ops/window.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_depthwise(const OpInputs& in) {
  in.want_same_type(0, 1);
  in.want_floating(0);
  in.want_rank(0, 4);
  in.want_rank(1, 4);
  const Shape &image = in.shape(0), &filter = in.shape(1);
  want_static_window(filter);
  if (!(image[3] == filter[2])) graph_error::channels_differ(image[3].factor, filter[2].factor);
  return {in[0].dtype, slide(image, in.attributes, filter[2] * filter[3])};
}
constexpr void gradient_of_depthwise(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {image [n, h, w, c], filter [kh, kw, c, m]}; ints as conv2d.
inline constexpr Op depthwise_conv2d{
    "depthwise_conv2d", OpKind::kernel, detail::infer_depthwise, detail::gradient_of_depthwise, 3, detail::from_first};
/// inputs = {filter, upstream}; the shape is the image's.
inline constexpr Op depthwise_image_gradient{"depthwise_image_gradient", OpKind::kernel, nullptr, nullptr, 3,
                                             detail::from_second};
/// inputs = {image, upstream}; the shape is the filter's.
inline constexpr Op depthwise_filter_gradient{"depthwise_filter_gradient", OpKind::kernel, nullptr, nullptr, 2};
}  // namespace op

/// Depthwise convolution (tf.nn.depthwise_conv2d):
///   out[n, y, x, c * m + q] = sum over i, j of
///     image[n, y * sh + i * dh - top, x * sw + j * dw - left, c] * filter[i, j, c, q]
/// - Shapes: image [n, h, w, c], filter [kh, kw, c, m] -> [n, oh, ow, c * m].
/// - `stride`, `padding`, `dilation`: as for conv2d().
constexpr Tensor depthwise_conv2d(Tensor image, Tensor filter, Window stride = {1, 1}, Padding padding = Padding::same,
                                  Window dilation = {1, 1}) {
  if (filter.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(filter.shape().rank));
  const Window w{static_cast<std::int32_t>(filter.shape()[0].factor),
                 static_cast<std::int32_t>(filter.shape()[1].factor)};
  return image.graph->apply(op::depthwise_conv2d, detail::window_attributes(w, stride, padding, dilation), image,
                            filter);
}

namespace detail {
constexpr void gradient_of_depthwise(GradientScope& s) {
  GraphBuilder& g = s.graph();
  const Tensor image = s.input(0), filter = s.input(1), up = s.full_upstream();
  if (s.wants(0)) s.give(0, g.shaped(op::depthwise_image_gradient, {filter, up}, image.shape(), s.attributes()));
  if (s.wants(1)) s.give(1, g.shaped(op::depthwise_filter_gradient, {image, up}, filter.shape(), s.attributes()));
}
}  // namespace detail

}  // namespace crochet

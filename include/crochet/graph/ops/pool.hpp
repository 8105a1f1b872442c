// SPDX-License-Identifier: Apache-2.0
// Pooling of NHWC images: the maximum or the mean of each window, or of each image.
#pragma once
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/ops/window.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_pool(const OpInputs& in) {
  in.want_floating(0);
  in.want_rank(0, 4);
  return {in[0].dtype, slide(in.shape(0), in.attributes, in.shape(0)[3])};
}
constexpr TypedShape infer_winners(const OpInputs& in) {
  const bool few = in.attributes.ints[0] * in.attributes.ints[1] <= 256;
  return {few ? DType::uint8 : DType::int32, slide(in.shape(0), in.attributes, in.shape(0)[3])};
}
constexpr void gradient_of_max_pool(GradientScope& s);
constexpr void gradient_of_mean_pool(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {image}; ints = {window height, width, stride height, width, padding, 1, 1}.
inline constexpr Op max_pool{"max_pool", OpKind::kernel,    detail::infer_pool, detail::gradient_of_max_pool,
                             3,          detail::from_first};
/// inputs = {image}: the index, in row-major order, of the first maximum of each window. It replaces the image in the
/// gradient, with a sixteenth of the memory.
inline constexpr Op max_pool_winners{"max_pool_winners", OpKind::kernel, detail::infer_winners, nullptr, -1,
                                     detail::from_first};
/// inputs = {upstream, winners}; the shape is the image's. Each window's upstream goes to its winner.
inline constexpr Op max_pool_gradient{"max_pool_gradient", OpKind::kernel, nullptr, nullptr, 3, detail::from_both};
/// inputs = {image}; ints as max_pool.
inline constexpr Op mean_pool{"mean_pool", OpKind::kernel,    detail::infer_pool, detail::gradient_of_mean_pool,
                              3,           detail::from_first};
/// inputs = {upstream}; the shape is the image's.
inline constexpr Op mean_pool_gradient{"mean_pool_gradient", OpKind::kernel, nullptr, nullptr, 3, detail::from_first};
}  // namespace op

/// The maximum of each window per channel (tf.nn.max_pool2d): [n, h, w, c] -> [n, oh, ow, c]. Padding is never the
/// maximum; a NaN always is. The gradient goes to the first maximum; with a NaN in the window, to any element.
constexpr Tensor max_pool(Tensor image, Window window, Window stride, Padding padding = Padding::valid) {
  return image.graph->apply(op::max_pool, detail::window_attributes(window, stride, padding), image);
}
constexpr Tensor max_pool(Tensor image, std::int32_t size) { return max_pool(image, {size, size}, {size, size}); }

/// The mean of each window per channel (tf.nn.avg_pool2d): [n, h, w, c] -> [n, oh, ow, c]. Padding does not count.
constexpr Tensor average_pool(Tensor image, Window window, Window stride, Padding padding = Padding::valid) {
  return image.graph->apply(op::mean_pool, detail::window_attributes(window, stride, padding), image);
}
constexpr Tensor average_pool(Tensor image, std::int32_t size) {
  return average_pool(image, {size, size}, {size, size});
}

/// The mean of each image per channel: [n, h, w, c] -> [n, c].
constexpr Tensor global_average_pool(Tensor image) {
  if (image.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(image.shape().rank));
  return reduce_mean(image, {1, 2});
}
/// The maximum of each image per channel: [n, h, w, c] -> [n, c]. Equal maxima share the gradient, as in reduce_max.
constexpr Tensor global_max_pool(Tensor image) {
  if (image.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(image.shape().rank));
  return reduce_max(image, {1, 2});
}

namespace detail {
constexpr void gradient_of_max_pool(GradientScope& s) {
  GraphBuilder& g = s.graph();
  const Tensor winners = g.apply(op::max_pool_winners, s.attributes(), s.input(0));
  s.give(0, g.shaped(op::max_pool_gradient, {s.full_upstream(), winners}, s.input(0).shape(), s.attributes()));
}
constexpr void gradient_of_mean_pool(GradientScope& s) {
  s.give(0, s.graph().shaped(op::mean_pool_gradient, {s.full_upstream()}, s.input(0).shape(), s.attributes()));
}
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Normalisation over the last axis (layer_norm, rms_norm), over all other axes (batch_norm), and over groups of
// channels (group_norm). y = gamma (x - mean) / sqrt(variance + epsilon) + beta with the biased variance; rms_norm is
// y = gamma x / sqrt(mean(x^2) + epsilon).
#pragma once
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
// Attributes: reals[0] = epsilon; ints[0] = the number of dimensions before the last (group_norm: of groups).
constexpr TypedShape infer_moments(const OpInputs& in) {
  in.want_floating(0);
  Shape out = in.shape(0);
  if (out.rank == 0) graph_error::wrong_rank(1, 0);
  out[out.rank - 1] = 2;
  return {in[0].dtype, out};
}
constexpr void want_channels(const OpInputs& in, std::size_t from) {
  const Shape& x = in.shape(0);
  in.want_floating(0);
  if (x.rank == 0) graph_error::wrong_rank(1, 0);
  for (std::size_t i = from; i < in.count; ++i) {
    in.want_same_type(0, i);
    in.want_rank(i, 1);
    if (!(in.shape(i)[0] == x[x.rank - 1])) graph_error::shapes_do_not_broadcast();
  }
}
constexpr TypedShape infer_row_norm(const OpInputs& in) {
  want_channels(in, 2);
  return in[0];
}
constexpr TypedShape infer_batch_norm(const OpInputs& in) {
  want_channels(in, 1);
  return in[0];
}
constexpr TypedShape infer_group_norm(const OpInputs& in) {
  want_channels(in, 1);
  const Shape& x = in.shape(0);
  if (x.rank < 2) graph_error::wrong_rank(2, static_cast<std::int64_t>(x.rank));
  const std::int64_t groups = in.attributes.ints[0];
  if (groups < 1 || !divides(groups, x[x.rank - 1])) {
    graph_error::heads_do_not_divide_the_width(x[x.rank - 1].factor, groups);
  }
  return in[0];
}
constexpr TypedShape infer_like_x(const OpInputs& in) { return in[0]; }
constexpr TypedShape infer_channels(const OpInputs& in) { return {in[0].dtype, {in.shape(0)[in.shape(0).rank - 1]}}; }
/// Op::itemwise of row-wise operations; none if there is a single row only.
template <unsigned Mask>
constexpr unsigned rows_by_item(const Attributes& a) {
  return a.ints[0] > 0 ? Mask : 0;
}
template <unsigned Mask>
constexpr unsigned images_by_item(const Attributes&) {
  return Mask;
}
constexpr void gradient_of_layer_norm(GradientScope& s);
constexpr void gradient_of_rms_norm(GradientScope& s);
constexpr void gradient_of_batch_norm(GradientScope& s);
constexpr void gradient_of_group_norm(GradientScope& s);

/// A kernel that passes its results, in the shape of x, to an epilogue.
constexpr Op normalization(std::string_view name, TypedShape (*infer)(const OpInputs&),
                           void (*gradient)(GradientScope&), unsigned (*itemwise)(const Attributes&)) {
  return {name, OpKind::kernel, infer, gradient, all_but_last, itemwise};
}
/// The gradient of gamma: one row, with an epilogue for an optimizer's update.
constexpr Op scale_gradient(std::string_view name) { return {name, OpKind::kernel, infer_channels, nullptr, 0}; }
}  // namespace detail

namespace op {
/// inputs = {x [..., d]} -> [..., 2]: each row's mean and 1 / sqrt(variance + epsilon). ints[1] = 1: uses 0 as the
/// mean.
inline constexpr Op row_moments{"row_moments", OpKind::kernel, detail::infer_moments,
                                nullptr,       no_epilogue,    detail::rows_by_item<1>};
/// inputs = {x [..., d], its row_moments, gamma [d], beta [d]} -> x's shape. The gradient is that of both operations.
inline constexpr Op layer_norm = detail::normalization("layer_norm", detail::infer_row_norm,
                                                       detail::gradient_of_layer_norm, detail::rows_by_item<3>);
/// inputs = {x, moments, upstream, gamma} -> x's shape.
inline constexpr Op layer_norm_gradient =
    detail::normalization("layer_norm_gradient", detail::infer_like_x, nullptr, detail::rows_by_item<7>);
/// inputs = {x [..., d], its row_moments with means of 0, gamma [d]} -> x's shape. The gradient is that of both.
inline constexpr Op rms_norm =
    detail::normalization("rms_norm", detail::infer_row_norm, detail::gradient_of_rms_norm, detail::rows_by_item<3>);
/// inputs = {x, moments, upstream, gamma} -> x's shape.
inline constexpr Op rms_norm_gradient =
    detail::normalization("rms_norm_gradient", detail::infer_like_x, nullptr, detail::rows_by_item<7>);
/// inputs = {x, moments, upstream} -> [d]: the gradient of gamma, for both norms.
inline constexpr Op row_norm_scale_gradient = detail::scale_gradient("row_norm_scale_gradient");
/// inputs = {x [..., c], mean [c], variance [c], gamma [c], beta [c]} -> x's shape. ints[1] = whether mean and variance
/// are those of x, so that the gradient flows through them.
inline constexpr Op batch_norm = detail::normalization("batch_norm", detail::infer_batch_norm,
                                                       detail::gradient_of_batch_norm, detail::rows_by_item<1>);
/// inputs = {x [..., c], mean [c]} -> [c]: the mean squared distance from the mean.
inline constexpr Op column_variance = detail::scale_gradient("column_variance");
/// inputs = {x [n, ..., c], gamma [c], beta [c]} -> x's shape.
inline constexpr Op group_norm = detail::normalization("group_norm", detail::infer_group_norm,
                                                       detail::gradient_of_group_norm, detail::images_by_item<1>);
/// inputs = {x, gamma, upstream} -> x's shape.
inline constexpr Op group_norm_gradient =
    detail::normalization("group_norm_gradient", detail::infer_like_x, nullptr, detail::images_by_item<5>);
/// inputs = {x, upstream} -> [c].
inline constexpr Op group_norm_scale_gradient = detail::scale_gradient("group_norm_scale_gradient");
}  // namespace op

struct NormOptions {
  double epsilon = 1e-5;  ///< added to the variance
};

namespace detail {
constexpr Attributes row_attributes(const Shape& x, NormOptions options, bool centred) {
  return {.ints = {static_cast<std::int32_t>(x.rank) - 1, centred ? 0 : 1}, .reals = {options.epsilon, 0}};
}
}  // namespace detail

/// Normalises each row along the last axis to mean 0 and variance 1, multiplies by gamma and adds beta. x [..., d],
/// gamma and beta [d]. The default epsilon is PyTorch's; Keras has 1e-3. Source: Ba, Kiros and Hinton, Layer
/// Normalization, 2016, eq. 4.
constexpr Tensor layer_norm(Tensor x, Tensor gamma, Tensor beta, NormOptions options = {}) {
  const Attributes a = detail::row_attributes(x.shape(), options, true);
  return x.graph->apply(op::layer_norm, a, x, x.graph->apply(op::row_moments, a, x), gamma, beta);
}
/// gamma x / sqrt(mean(x^2) + epsilon), with the mean along the last axis. x [..., d], gamma [d]. Source: Zhang and
/// Sennrich, NeurIPS 2019, eq. 4.
constexpr Tensor rms_norm(Tensor x, Tensor gamma, NormOptions options = {}) {
  const Attributes a = detail::row_attributes(x.shape(), options, false);
  return x.graph->apply(op::rms_norm, a, x, x.graph->apply(op::row_moments, a, x), gamma);
}

/// gamma (x - mean) / sqrt(variance + epsilon) + beta with given mean and variance per channel (the last axis), as for
/// inference. x [..., c], the others [c]. No gradient flows to mean and variance.
constexpr Tensor batch_norm(Tensor x, Tensor gamma, Tensor beta, Tensor mean, Tensor variance,
                            NormOptions options = {}) {
  const Attributes a{.ints = {static_cast<std::int32_t>(x.shape().rank) - 1}, .reals = {options.epsilon, 0}};
  return x.graph->apply(op::batch_norm, a, x, mean, variance, gamma, beta);
}
/// The result of batch_norm_of_batch: the normalised values, and the batch's mean and variance.
struct BatchNormalized {
  Tensor y, mean, variance;
};
namespace detail {
/// batch_norm_of_batch of a batch that is divided among ranks: the mean and variance are those of the whole batch, and
/// so are their gradients.
constexpr BatchNormalized batch_norm_over_ranks(Tensor x, Tensor gamma, Tensor beta, const NormOptions& options) {
  GraphBuilder& g = *x.graph;
  const int position = g.position() + 3;  // mean, variance and result are one node each on one machine
  const unsigned axes = all_axes(x.shape()) >> 1;
  const Tensor mean = mean_over_ranks(reduce(op::reduce_mean, x, axes, false));
  const Tensor variance = mean_over_ranks(reduce(op::reduce_mean, square(x - mean), axes, false));
  const Tensor scale = gamma / sqrt(variance + g.constant(x.dtype(), options.epsilon));
  const Tensor y = (x - mean) * scale + beta;
  g.set_position(position);
  return {y, mean, variance};
}
}  // namespace detail

/// Batch normalisation with the mean and variance of x over all axes but the last, as for training. The gradient flows
/// through both. Source: Ioffe and Szegedy, ICML 2015, algorithm 1.
constexpr BatchNormalized batch_norm_of_batch(Tensor x, Tensor gamma, Tensor beta, NormOptions options = {}) {
  const Shape s = x.shape();
  if (s.rank < 2) graph_error::wrong_rank(2, static_cast<std::int64_t>(s.rank));
  GraphBuilder& g = *x.graph;
  if (g.divides_batch()) return detail::batch_norm_over_ranks(x, gamma, beta, options);
  const Tensor mean = detail::reduce(op::reduce_mean, x, detail::all_axes(s) >> 1, false);
  const Tensor variance = g.apply(op::column_variance, x, mean);
  const Attributes a{.ints = {static_cast<std::int32_t>(s.rank) - 1, 1}, .reals = {options.epsilon, 0}};
  return {g.apply(op::batch_norm, a, x, mean, variance, gamma, beta), mean, variance};
}

/// Whether a node normalizes by the mean and variance of its batch, as for training.
constexpr bool normalizes_by_batch(const Node& n) { return n.is(op::batch_norm) && n.attributes.ints[1] == 1; }

/// Splits each example's channels (the last axis) into `groups` equal groups, normalises each group over all positions
/// of the example to mean 0 and variance 1, multiplies by gamma and adds beta per channel. x [n, ..., c], gamma and
/// beta [c]. With as many groups as channels it is instance normalisation. Source: Wu and He, ECCV 2018, eq. 7.
constexpr Tensor group_norm(Tensor x, std::int32_t groups, Tensor gamma, Tensor beta, NormOptions options = {}) {
  const Attributes a{.ints = {groups}, .reals = {options.epsilon, 0}};
  return x.graph->apply(op::group_norm, a, x, gamma, beta);
}

namespace detail {
/// gamma's gradient is the sum over rows of upstream times the normalised x, beta's is the sum of upstream.
constexpr void row_norm_gradients(GradientScope& s, const Op& of_x) {
  const Attributes a = s.attributes();
  const Tensor x = s.input(0), moments = s.input(1), gamma = s.input(2), up = s.full_upstream();
  if (s.wants(0)) s.give(0, s.graph().apply(of_x, a, x, moments, up, gamma));
  if (s.wants(2)) s.give(2, s.graph().apply(op::row_norm_scale_gradient, a, x, moments, up));
}
constexpr void gradient_of_layer_norm(GradientScope& s) {
  row_norm_gradients(s, op::layer_norm_gradient);
  s.give(3, s.full_upstream());
}
constexpr void gradient_of_rms_norm(GradientScope& s) { row_norm_gradients(s, op::rms_norm_gradient); }
constexpr void gradient_of_group_norm(GradientScope& s) {
  const Attributes a = s.attributes();
  const Tensor up = s.full_upstream();
  if (s.wants(0)) s.give(0, s.graph().apply(op::group_norm_gradient, a, s.input(0), s.input(1), up));
  if (s.wants(1)) s.give(1, s.graph().apply(op::group_norm_scale_gradient, a, s.input(0), up));
  s.give(2, up);
}

// With r = 1 / sqrt(variance + epsilon), c = x - mean and sums over the n rows: dbeta = sum(dy), dgamma = r sum(dy c),
// dx = gamma r (dy - dbeta / n - c r^2 sum(dy c) / n). The last two terms are omitted if mean and variance are
// constants (Ioffe and Szegedy, section 3, simplified).
constexpr void gradient_of_batch_norm(GradientScope& s) {
  const Tensor x = s.input(0), up = s.full_upstream(), gamma = s.input(3), centred = x - s.input(1);
  const Tensor r = 1 / sqrt(s.input(2) + s.attributes().reals[0]);
  const unsigned rows = all_axes(x.shape()) >> 1;
  const Tensor dot = reduce(op::reduce_sum, up * centred, rows, false), sum = reduce(op::reduce_sum, up, rows, false);
  s.give(3, dot * r);
  s.give(4, sum);
  if (!s.wants(0)) return;
  Tensor d = up;
  if (s.attributes().ints[1] != 0) {
    const Tensor n = s.graph().count(x.shape().product(0, x.shape().rank - 1), x.dtype());
    d = (up - sum / n) - centred * (square(r) * dot / n);
  }
  s.give(0, d * (gamma * r));
}
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Losses. Each is the mean over all examples; with `per_example` one loss per example, with weights a weighted mean.
#pragma once
#include <crochet/graph/ops/softmax.hpp>

namespace crochet {

namespace detail {
// Attributes of the cross entropies: ints[0] = the number of leading dimensions that form the rows. Gradients also have
// ints[1] = whether the upstream is one number for all rows.
constexpr Shape rows_of(const Shape& logits) {
  if (logits.rank == 0) graph_error::wrong_rank(1, 0);
  Shape rows = logits;
  rows[--rows.rank] = 1;
  return rows;
}
constexpr TypedShape infer_sparse_cross_entropy(const OpInputs& in) {
  in.want_floating(0);
  const Shape rows = rows_of(in.shape(0));
  if (in[1].dtype != DType::int32) graph_error::labels_are_not_int32();
  if (!(rows == in.shape(1))) graph_error::labels_do_not_fit_the_logits();
  return {in[0].dtype, rows};
}
constexpr TypedShape infer_cross_entropy(const OpInputs& in) {
  in.want_floating(0);
  in.want_same_type(0, 1);
  if (!(in.shape(0) == in.shape(1))) graph_error::labels_do_not_fit_the_logits();
  return {in[0].dtype, rows_of(in.shape(0))};
}
constexpr TypedShape infer_logits_gradient(const OpInputs& in) { return in[0]; }
constexpr TypedShape infer_sigmoid_cross_entropy(const OpInputs& in) {
  in.want_floating(0);
  in.want_same_type(0, 1);
  if (!(in.shape(0) == in.shape(1))) graph_error::labels_do_not_fit_the_logits();
  return in[0];
}
constexpr unsigned cross_entropy_items(const Attributes& a) { return a.ints[0] > 0 ? 3 : 0; }
constexpr unsigned cross_entropy_gradient_items(const Attributes& a) {
  return a.ints[0] > 0 ? (a.ints[1] != 0 ? 3 : 7) : 0;
}
constexpr void gradient_of_sparse_cross_entropy(GradientScope& s);
constexpr void gradient_of_cross_entropy(GradientScope& s);
constexpr void gradient_of_sigmoid_cross_entropy(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {logits [..., classes], labels int32 [...]} -> [...].
inline constexpr Op sparse_cross_entropy{"sparse_cross_entropy",
                                         OpKind::kernel,
                                         detail::infer_sparse_cross_entropy,
                                         detail::gradient_of_sparse_cross_entropy,
                                         -1,
                                         detail::cross_entropy_items};
/// inputs = {logits, labels, upstream [...] or []} -> [..., classes].
inline constexpr Op sparse_cross_entropy_gradient{
    "sparse_cross_entropy_gradient",     OpKind::kernel, detail::infer_logits_gradient, nullptr, -1,
    detail::cross_entropy_gradient_items};
/// inputs = {logits [..., classes], probabilities [..., classes]} -> [...].
inline constexpr Op cross_entropy{"cross_entropy",
                                  OpKind::kernel,
                                  detail::infer_cross_entropy,
                                  detail::gradient_of_cross_entropy,
                                  -1,
                                  detail::cross_entropy_items};
/// inputs = {logits, probabilities, upstream [...] or []} -> [..., classes].
inline constexpr Op cross_entropy_gradient{"cross_entropy_gradient",
                                           OpKind::kernel,
                                           detail::infer_logits_gradient,
                                           nullptr,
                                           -1,
                                           detail::cross_entropy_gradient_items};
/// inputs = {logits, probabilities of the same shape}, element by element.
inline constexpr Op sigmoid_cross_entropy{"sigmoid_cross_entropy", OpKind::elementwise,
                                          detail::infer_sigmoid_cross_entropy,
                                          detail::gradient_of_sigmoid_cross_entropy};
}  // namespace op

/// Tag: selects one loss per example instead of their mean.
struct PerExample {};
inline constexpr PerExample per_example{};

/// sum(weights * losses) / sum(weights). `weights` broadcast to the losses. With weights 0 or 1 it is the mean of the
/// selected losses. (TensorFlow 1 divides by the number of nonzero weights, Keras by the number of all losses.)
/// - Where the weights sum to 0 the divisor is 1, so weights that are all 0 give 0.
/// - A weight of 0 does not hide a loss that is NaN or infinite: 0 * NaN is NaN. Give ignored rows valid labels.
constexpr Tensor weighted_mean(Tensor losses, Tensor weights) {
  if (!(broadcast(losses.shape(), weights.shape()) == losses.shape())) graph_error::shapes_do_not_broadcast();
  const Tensor w = losses.shape() == weights.shape() ? weights : broadcast_to(weights, losses.shape());
  GraphBuilder& g = *losses.graph;
  const Tensor total = reduce_sum(w), zero = g.constant(w.dtype(), 0), one = g.constant(w.dtype(), 1);
  return reduce_sum(losses * w) / select(equal(total, zero), one, total);
}

namespace detail {
constexpr Tensor cross_entropy_rows(const Op& op, Tensor logits, Tensor labels) {
  const Attributes rows{.ints = {static_cast<std::int32_t>(logits.shape().rank) - 1}};
  return logits.graph->apply(op, rows, logits, labels);
}
/// The mean over the last axis; a scalar is returned as is.
constexpr Tensor mean_of_last(Tensor x) { return x.shape().rank == 0 ? x : reduce_mean(x, {-1}); }
}  // namespace detail

/// log(sum_j exp(z_j)) - z_label of each row, computed from z - max(z), so all finite logits are safe.
/// - logits [..., classes], labels int32 [...] in [0, classes). A label outside makes the row's loss and gradient NaN,
///   and so a mean over the rows, also where the row's weight is 0: there is no label that means "ignore".
/// - Source: Goodfellow, Bengio and Courville, Deep Learning, 2016, eq. 6.30.
constexpr Tensor sparse_softmax_cross_entropy(Tensor logits, Tensor labels, PerExample) {
  return detail::cross_entropy_rows(op::sparse_cross_entropy, logits, labels);
}
/// The mean over all rows, a scalar.
constexpr Tensor sparse_softmax_cross_entropy(Tensor logits, Tensor labels) {
  return reduce_mean(detail::cross_entropy_rows(op::sparse_cross_entropy, logits, labels));
}
/// The mean weighted by `weights` [...] (see weighted_mean), a scalar.
constexpr Tensor sparse_softmax_cross_entropy(Tensor logits, Tensor labels, Tensor weights) {
  return weighted_mean(sparse_softmax_cross_entropy(logits, labels, per_example), weights);
}

/// sum_j p_j (log(sum_k exp(z_k)) - z_j) of each row. logits and p [..., classes]; no gradient flows to p.
constexpr Tensor softmax_cross_entropy(Tensor logits, Tensor p, PerExample) {
  return detail::cross_entropy_rows(op::cross_entropy, logits, p);
}
constexpr Tensor softmax_cross_entropy(Tensor logits, Tensor p) {
  return reduce_mean(detail::cross_entropy_rows(op::cross_entropy, logits, p));
}
constexpr Tensor softmax_cross_entropy(Tensor logits, Tensor p, Tensor weights) {
  return weighted_mean(softmax_cross_entropy(logits, p, per_example), weights);
}

/// max(z, 0) - z p + log(1 + exp(-|z|)) of each element: -p log(sigmoid(z)) - (1 - p) log(1 - sigmoid(z)) in a form
/// without overflow and cancellation.
/// - logits z and p of the same shape, p in [0, 1].
/// - Source: the formula of TensorFlow's sigmoid_cross_entropy_with_logits.
constexpr Tensor sigmoid_cross_entropy(Tensor logits, Tensor p, PerExample) {
  return logits.graph->apply(op::sigmoid_cross_entropy, logits, p);
}
/// The mean over all elements, a scalar.
constexpr Tensor sigmoid_cross_entropy(Tensor logits, Tensor p) {
  return reduce_mean(sigmoid_cross_entropy(logits, p, per_example));
}
constexpr Tensor sigmoid_cross_entropy(Tensor logits, Tensor p, Tensor weights) {
  return weighted_mean(sigmoid_cross_entropy(logits, p, per_example), weights);
}

/// (y - target)^2, averaged over the last axis: [..., n] -> [...]. y and target should have one shape: they broadcast,
/// so y [n, 1] with target [n] is compared as [n, n]. The same in mean_absolute_error and huber_loss.
constexpr Tensor mean_squared_error(Tensor y, Tensor target, PerExample) {
  return detail::mean_of_last(square(y - target));
}
/// The mean over all elements, a scalar.
constexpr Tensor mean_squared_error(Tensor y, Tensor target) { return reduce_mean(square(y - target)); }
/// The mean weighted by `weights` [...], one per example.
constexpr Tensor mean_squared_error(Tensor y, Tensor target, Tensor weights) {
  return weighted_mean(mean_squared_error(y, target, per_example), weights);
}

/// |y - target|, averaged over the last axis: [..., n] -> [...].
constexpr Tensor mean_absolute_error(Tensor y, Tensor target, PerExample) {
  return detail::mean_of_last(abs(y - target));
}
constexpr Tensor mean_absolute_error(Tensor y, Tensor target) { return reduce_mean(abs(y - target)); }
constexpr Tensor mean_absolute_error(Tensor y, Tensor target, Tensor weights) {
  return weighted_mean(mean_absolute_error(y, target, per_example), weights);
}

struct HuberOptions {
  double delta = 1;  ///< the loss is quadratic up to it and linear beyond
};

/// With e = y - target: e^2 / 2 where |e| <= delta, else delta (|e| - delta / 2), for each element. Computed as c (e -
/// c / 2) with c = e clipped to [-delta, delta]. Source: Huber, Annals of Mathematical Statistics 35, 1964.
constexpr Tensor huber(Tensor y, Tensor target, HuberOptions options = {}) {
  const Tensor e = y - target;
  GraphBuilder& g = *y.graph;
  const Tensor c = maximum(minimum(e, g.constant(e.dtype(), options.delta)), g.constant(e.dtype(), -options.delta));
  return c * (e - 0.5 * c);
}
constexpr Tensor huber_loss(Tensor y, Tensor target, PerExample, HuberOptions options = {}) {
  return detail::mean_of_last(huber(y, target, options));
}
/// The mean of huber() over all elements, a scalar.
constexpr Tensor huber_loss(Tensor y, Tensor target, HuberOptions options = {}) {
  return reduce_mean(huber(y, target, options));
}
constexpr Tensor huber_loss(Tensor y, Tensor target, Tensor weights, HuberOptions options = {}) {
  return weighted_mean(huber_loss(y, target, per_example, options), weights);
}

/// The fraction of rows whose greatest logit is the label's, a scalar of the logits' type. logits [..., classes],
/// labels int32 [...].
constexpr Tensor accuracy(Tensor logits, Tensor labels) {
  if (labels.dtype() != DType::int32) graph_error::labels_are_not_int32();
  if (!(detail::rows_of(logits.shape()) == labels.shape())) graph_error::labels_do_not_fit_the_logits();
  return reduce_mean(cast(equal(argmax(logits), labels), logits.dtype()));
}
/// The fraction of elements classified correctly: logits above `threshold` against labels above 1/2, or that are true.
/// For probabilities instead of logits use the threshold 0.5.
constexpr Tensor binary_accuracy(Tensor logits, Tensor labels, double threshold = 0) {
  const Tensor is_true = labels.dtype() == DType::boolean ? labels : greater(labels, 0.5);
  return reduce_mean(cast(equal(greater(logits, threshold), is_true), logits.dtype()));
}

namespace detail {
constexpr Tensor logits_gradient(GradientScope& s, const Op& op) {
  const bool one = s.upstream().shape().rank == 0;
  const Attributes a{.ints = {s.attributes().ints[0], one ? 1 : 0}};
  return s.graph().apply(op, a, s.input(0), s.input(1), one ? s.upstream() : s.full_upstream());
}
constexpr void gradient_of_sparse_cross_entropy(GradientScope& s) {
  s.give(0, logits_gradient(s, op::sparse_cross_entropy_gradient));
}
constexpr void gradient_of_cross_entropy(GradientScope& s) {
  s.give(0, logits_gradient(s, op::cross_entropy_gradient));
}
constexpr void gradient_of_sigmoid_cross_entropy(GradientScope& s) {
  if (s.wants(0)) s.give(0, s.upstream() * (sigmoid(s.input(0)) - s.input(1)));
  if (s.wants(1)) s.give(1, -(s.upstream() * s.input(0)));
}
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Losses on logits.
#pragma once
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
constexpr void want_logits(const OpInputs& in) {
  in.want_floating(0);
  in.want_rank(0, 2);
}
constexpr TypedShape infer_sparse_cross_entropy(const OpInputs& in) {
  want_logits(in);
  in.want_rank(1, 1);
  if (in[1].dtype != DType::int32) graph_error::element_type_not_supported();
  if (!(in.shape(0)[0] == in.shape(1)[0])) graph_error::shapes_do_not_broadcast();
  return {in[0].dtype, {in.shape(0)[0]}};
}
constexpr TypedShape infer_cross_entropy(const OpInputs& in) {
  want_logits(in);
  in.want_same_type(0, 1);
  if (!(in.shape(0) == in.shape(1))) graph_error::shapes_do_not_broadcast();
  return {in[0].dtype, {in.shape(0)[0]}};
}
constexpr TypedShape infer_logits_gradient(const OpInputs& in) { return in[0]; }
constexpr void gradient_of_sparse_cross_entropy(GradientScope& s);
constexpr void gradient_of_cross_entropy(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {logits [n, classes], labels int32 [n]} -> [n].
inline constexpr Op sparse_cross_entropy{"sparse_cross_entropy", OpKind::kernel, detail::infer_sparse_cross_entropy,
                                         detail::gradient_of_sparse_cross_entropy};
/// inputs = {logits, labels, upstream [n]} -> [n, classes].
inline constexpr Op sparse_cross_entropy_gradient{"sparse_cross_entropy_gradient", OpKind::kernel,
                                                  detail::infer_logits_gradient};
/// inputs = {logits [n, classes], probabilities [n, classes]} -> [n].
inline constexpr Op cross_entropy{"cross_entropy", OpKind::kernel, detail::infer_cross_entropy,
                                  detail::gradient_of_cross_entropy};
/// inputs = {logits, probabilities, upstream [n]} -> [n, classes].
inline constexpr Op cross_entropy_gradient{"cross_entropy_gradient", OpKind::kernel, detail::infer_logits_gradient};
}  // namespace op

/// The mean over the batch of log(sum_j exp(z_j)) - z_label: a scalar. Computed from z - max(z), so that large logits
/// are safe. logits [n, classes], labels int32 [n] in [0, classes): a label outside makes its row's loss NaN.
constexpr Tensor sparse_softmax_cross_entropy(Tensor logits, Tensor labels) {
  return reduce_mean(logits.graph->apply(op::sparse_cross_entropy, logits, labels));
}

/// The mean over the batch of sum_j p_j (log(sum_k exp(z_k)) - z_j): a scalar. logits and p [n, classes]; no gradient
/// passes to p.
constexpr Tensor softmax_cross_entropy(Tensor logits, Tensor p) {
  return reduce_mean(logits.graph->apply(op::cross_entropy, logits, p));
}

namespace detail {
constexpr void gradient_of_sparse_cross_entropy(GradientScope& s) {
  const Tensor up = s.full_upstream();
  s.give(0, s.graph().apply(op::sparse_cross_entropy_gradient, s.input(0), s.input(1), up));
}
constexpr void gradient_of_cross_entropy(GradientScope& s) {
  const Tensor up = s.full_upstream();
  s.give(0, s.graph().apply(op::cross_entropy_gradient, s.input(0), s.input(1), up));
}
}  // namespace detail

}  // namespace crochet

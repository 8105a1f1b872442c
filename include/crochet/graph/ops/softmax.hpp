// SPDX-License-Identifier: Apache-2.0
// Softmax, its logarithm, and logsumexp, along one axis. All are computed from x - max(x), so all finite x are safe.
#pragma once
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
// ints[0] = the axis; ints[1] = whether logsumexp keeps it as a dimension of 1.
constexpr TypedShape infer_softmax(const OpInputs& in) {
  in.want_floating(0);
  return in[0];
}
constexpr TypedShape infer_logsumexp(const OpInputs& in) {
  in.want_floating(0);
  Shape out;
  for (std::size_t i = 0; i < in.shape(0).rank; ++i) {
    const bool reduced = static_cast<std::int32_t>(i) == in.attributes.ints[0];
    if (!reduced) out.push_back(in.shape(0)[i]);
    if (reduced && in.attributes.ints[1] != 0) out.push_back(1);
  }
  return {in[0].dtype, out};
}
/// Op::itemwise of operations along an axis: the inputs of Mask; none if the axis is that of the items.
template <unsigned Mask>
constexpr unsigned items_before_axis(const Attributes& a) {
  return a.ints[0] > 0 ? Mask : 0;
}
constexpr void gradient_of_softmax(GradientScope& s);
constexpr void gradient_of_log_softmax(GradientScope& s);
constexpr void gradient_of_logsumexp(GradientScope& s);
constexpr Attributes along_axis(const Shape& shape, int axis, bool keep = false) {
  (void)axis_bit(shape, axis);  // reports an invalid axis
  const int rank = static_cast<int>(shape.rank);
  return {.ints = {axis < 0 ? axis + rank : axis, keep ? 1 : 0}};
}
}  // namespace detail

namespace op {
/// inputs = {x}; ints[0] = the axis.
inline constexpr Op softmax{
    "softmax", OpKind::kernel, detail::infer_softmax, detail::gradient_of_softmax, -1, detail::items_before_axis<1>};
/// inputs = {softmax's result, upstream}: y (g - sum(g y)).
inline constexpr Op softmax_gradient{"softmax_gradient",          OpKind::kernel, detail::infer_softmax, nullptr, -1,
                                     detail::items_before_axis<3>};
/// inputs = {x}; ints[0] = the axis.
inline constexpr Op log_softmax{"log_softmax",
                                OpKind::kernel,
                                detail::infer_softmax,
                                detail::gradient_of_log_softmax,
                                -1,
                                detail::items_before_axis<1>};
/// inputs = {log_softmax's result, upstream}: g - exp(y) sum(g).
inline constexpr Op log_softmax_gradient{
    "log_softmax_gradient", OpKind::kernel, detail::infer_softmax, nullptr, -1, detail::items_before_axis<3>};
/// inputs = {x}; ints = {the axis, whether it is kept as a dimension of 1}.
inline constexpr Op logsumexp{"logsumexp",
                              OpKind::kernel,
                              detail::infer_logsumexp,
                              detail::gradient_of_logsumexp,
                              -1,
                              detail::items_before_axis<1>};
}  // namespace op

/// exp(x_j) / sum_k exp(x_k) along the axis, with x's shape. Goodfellow, Bengio and Courville, Deep Learning, 2016, eq.
/// 4.1.
constexpr Tensor softmax(Tensor x, int axis = -1) {
  const Attributes a = detail::along_axis(x.shape(), axis);
  return x.graph->apply(op::softmax, a, x);
}
/// x_j - log(sum_k exp(x_k)) along the axis, with x's shape. Does not underflow where softmax does.
constexpr Tensor log_softmax(Tensor x, int axis = -1) {
  const Attributes a = detail::along_axis(x.shape(), axis);
  return x.graph->apply(op::log_softmax, a, x);
}
/// log(sum_k exp(x_k)) along the axis, one rank less. -infinity if all x are, as in scipy.
constexpr Tensor logsumexp(Tensor x, int axis = -1, KeepDims keep = {}) {
  const Attributes a = detail::along_axis(x.shape(), axis, keep.value);
  return x.graph->apply(op::logsumexp, a, x);
}

namespace detail {
constexpr void gradient_of_softmax(GradientScope& s) {
  const Attributes axis = s.attributes();
  s.give(0, s.graph().apply(op::softmax_gradient, axis, s.output(), s.full_upstream()));
}
constexpr void gradient_of_log_softmax(GradientScope& s) {
  const Attributes axis = s.attributes();
  s.give(0, s.graph().apply(op::log_softmax_gradient, axis, s.output(), s.full_upstream()));
}
// d logsumexp / dx_j is the softmax; its logarithm x_j - logsumexp is at most 0.
constexpr void gradient_of_logsumexp(GradientScope& s) {
  const Tensor x = s.input(0);
  Shape kept = x.shape();
  kept[static_cast<std::size_t>(s.attributes().ints[0])] = 1;
  const Tensor up = s.upstream().shape().rank == 0 ? s.upstream() : reshape(s.full_upstream(), kept);
  s.give(0, exp(x - reshape(s.output(), kept)) * up);
}
}  // namespace detail

}  // namespace crochet

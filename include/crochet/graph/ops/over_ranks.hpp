// SPDX-License-Identifier: Apache-2.0
// Means and sums over ranks, for a graph whose batch is divided among ranks (GraphBuilder::divide_batch). On one
// machine they are their argument, and no node is made.
#pragma once
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_over_ranks(const OpInputs& in) {
  in.want_floating(0);
  return {in[0].dtype, in.shape(0)};
}
constexpr TypedShape infer_begin_over_ranks(const OpInputs& in) {
  in.want_floating(0);
  return {DType::int32, {}};
}
constexpr void gradient_of_mean_over_ranks(GradientScope& s);
}  // namespace detail

namespace op {
/// The mean of the ranks' values, weighted by the rows of the batch that each rank has. All ranks get the same bits.
/// Attributes of this and the next one: ints[0] = whether it is a gradient, which may be compressed (Compression).
inline constexpr Op mean_over_ranks{
    .name = "mean_over_ranks", .infer = detail::infer_over_ranks, .gradient = detail::gradient_of_mean_over_ranks};
/// The sum of the ranks' values. All ranks get the same bits. No gradient.
inline constexpr Op sum_over_ranks{.name = "sum_over_ranks", .infer = detail::infer_over_ranks};

/// The two parts of an exchange that overlaps with computation (Parallel's OverlappedExchange): sends x and returns the
/// number of the exchange; attributes: ints[1] = whether it is a mean.
inline constexpr Op begin_over_ranks{.name = "begin_over_ranks", .infer = detail::infer_begin_over_ranks};
/// Inputs: x, and the number. The value of mean_over_ranks or sum_over_ranks.
inline constexpr Op end_over_ranks{.name = "end_over_ranks", .infer = detail::infer_over_ranks};
}  // namespace op

namespace detail {
constexpr Tensor over_ranks(const Op& op, Tensor x) {
  GraphBuilder& g = *x.graph;
  if (!g.divides_batch()) return x;
  const int position = g.position();
  const Tensor shared = g.apply(op, x);
  g.set_position(position);
  return shared;
}
}  // namespace detail

/// The value for the whole batch of a mean over the rows of the batch. x must have a static shape.
constexpr Tensor mean_over_ranks(Tensor x) { return detail::over_ranks(op::mean_over_ranks, x); }
/// The value for the whole batch of a sum over the rows of the batch. x must have a static shape.
constexpr Tensor sum_over_ranks(Tensor x) { return detail::over_ranks(op::sum_over_ranks, x); }

namespace detail {
/// The gradient of the whole batch, from a loss that is a mean or a sum over its rows. x must have a static shape.
constexpr Tensor gradient_over_ranks(Tensor x, bool mean) {
  GraphBuilder& g = *x.graph;
  const int position = g.position();
  Tensor shared = x;
  if (g.overlaps_exchanges()) {
    shared = g.apply(op::end_over_ranks, x, g.apply(op::begin_over_ranks, x, Attributes{.ints = {1, mean ? 1 : 0}}));
  } else if (g.divides_batch()) {
    shared = g.apply(mean ? op::mean_over_ranks : op::sum_over_ranks, x, Attributes{.ints = {1}});
  }
  g.set_position(position);
  return shared;
}

/// The loss of the whole batch is the weighted mean of the ranks' losses. Each rank computes the gradient of its own
/// loss, and the gradients of variables are averaged behind that. Upstream is therefore averaged in the same way.
constexpr void gradient_of_mean_over_ranks(GradientScope& s) { s.give(0, mean_over_ranks(s.full_upstream())); }
}  // namespace detail

}  // namespace crochet

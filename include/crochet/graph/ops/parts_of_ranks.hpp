// SPDX-License-Identifier: Apache-2.0
// Parts of variables and gradients, one for each rank, for a graph whose ranks divide the state of the optimizer
// (GraphBuilder::divide_optimizer).
#pragma once
#include <crochet/graph/ops/arithmetic.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_part_of_rank(const OpInputs& in) {
  in.want_floating(0);
  const std::int64_t ranks = in.attributes.ints[0], n = in.shape(0).size().factor;
  return {in[0].dtype, {(n + ranks - 1) / ranks}};
}
constexpr Tensor assign_to_part(GraphBuilder& g, Tensor part, Tensor value);
}  // namespace detail

namespace op {
/// The elements of x that this rank has, of its elements in row-major order. Rank r of N has those from r p on, where p
/// = n / N rounded up; the result is [p], with zeros behind the last element. An assignment to it assigns the parts of
/// all ranks to x. Attributes of this and the next one: ints[0] = N.
inline constexpr Op part_of_rank{
    .name = "part_of_rank", .infer = detail::infer_part_of_rank, .panel_inputs = 1, .assign = detail::assign_to_part};
/// This rank's part of mean_over_ranks(x), or of sum_over_ranks(x). Attributes: ints[1] = whether it is a mean.
inline constexpr Op scatter_over_ranks{.name = "scatter_over_ranks", .infer = detail::infer_part_of_rank};
/// The value whose parts the ranks have, in a shape chosen by the caller.
inline constexpr Op gather_over_ranks{.name = "gather_over_ranks"};
}  // namespace op

namespace detail {
/// This rank's part of a variable, for an optimizer in place of the variable.
constexpr Tensor part_of_rank(Tensor variable) {
  GraphBuilder& g = *variable.graph;
  const int position = g.position();
  const Tensor part = g.apply(op::part_of_rank, variable, Attributes{.ints = {g.optimizer_parts()}});
  g.set_position(position);
  return part;
}
/// This rank's part of the gradient of the whole batch.
constexpr Tensor gradient_of_part(Tensor x, bool mean) {
  GraphBuilder& g = *x.graph;
  const int position = g.position();
  const Tensor part = g.apply(op::scatter_over_ranks, x, Attributes{.ints = {g.optimizer_parts(), mean ? 1 : 0}});
  g.set_position(position);
  return part;
}
constexpr Tensor assign_to_part(GraphBuilder& g, Tensor part, Tensor value) {
  const int position = g.position();
  const Tensor variable{&g, g.node(part).inputs[0]};
  const Tensor whole = g.shaped(op::gather_over_ranks, {value}, variable.shape());
  g.set_position(position);
  return g.apply(op::assign, variable, whole);
}

/// Whether a value is a rank's part of a gradient, or an elementwise function of one.
constexpr bool is_part_of_rank(Tensor x) {
  const Node& n = x.graph->node(x);
  if (n.is(op::scatter_over_ranks) || n.is(op::part_of_rank)) return true;
  if (n.op->kind != OpKind::elementwise) return false;
  for (const int in : n.inputs) {
    if (in >= 0 && is_part_of_rank({x.graph, in})) return true;
  }
  return false;
}
/// sum x^2 over all elements: of all ranks if x is a rank's part.
constexpr Tensor sum_of_squares(Tensor x) {
  const Tensor sum = reduce_sum(square(x));
  return is_part_of_rank(x) ? sum_over_ranks(sum) : sum;
}
}  // namespace detail

/// For an optimizer: the variable that `variable` is, or of which it is a rank's part. It has the name, and the shape
/// of the model.
constexpr Tensor whole_variable(Tensor variable) {
  const Node& n = variable.graph->node(variable);
  return n.is(op::part_of_rank) ? Tensor{variable.graph, n.inputs[0]} : variable;
}

}  // namespace crochet

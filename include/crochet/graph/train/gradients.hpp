// SPDX-License-Identifier: Apache-2.0
// Reverse-mode gradients: one backward pass over the node table, in which each operation's rule adds to the gradients
// of its inputs.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/loss.hpp>
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/train/checkpoint.hpp>

namespace crochet {

namespace detail {
/// The nodes up to `last` that depend on a trainable variable.
constexpr ConstexprVector<char> needed_nodes(const GraphBuilder& g, int last) {
  ConstexprVector<char> needed(static_cast<std::size_t>(last) + 1, 0);
  for (int i = 0; i <= last; ++i) {
    const Node& n = g.node(i);
    bool need = n.is(op::variable) && n.attributes.ints[1] != 0;
    const std::size_t inputs = n.is(op::recompute_from) ? 1 : max_inputs;  // its value does not depend on the second
    for (std::size_t k = 0; k < inputs && n.inputs[k] >= 0; ++k) {
      need = need || needed[static_cast<std::size_t>(n.inputs[k])] != 0;
    }
    needed[static_cast<std::size_t>(i)] = need ? 1 : 0;
  }
  return needed;
}
/// The gradient with the given shape, or with a smaller one that broadcasts to it: summed over broadcast dimensions.
constexpr Tensor unbroadcast(Tensor g, const Shape& shape) {
  if (broadcast(shape, g.shape()) == shape) return g;
  const unsigned axes = broadcast_axes(shape, g.shape());
  Shape left;
  for (std::size_t i = g.shape().rank > shape.rank ? g.shape().rank - shape.rank : 0; i < g.shape().rank; ++i) {
    left.push_back(((axes >> i) & 1U) != 0 ? Extent{} : g.shape()[i]);
  }
  g = reduce(op::reduce_sum, g, axes, false);
  return g.shape().rank == 0 || g.shape() == left ? g : reshape(g, left);
}

/// A gradient with a smaller shape than its node represents equal elements. If the node broadcasts its input, the
/// input's gradient is the sum over the repetitions.
constexpr Tensor times_repetitions(Tensor g, const Shape& input, const Node& node) {
  if (node.op->kind != OpKind::elementwise && !node.is(op::broadcast_to)) return g;
  const unsigned axes = broadcast_axes(input, node.shape) & broadcast_axes(g.shape(), node.shape);
  Extent times;
  for (std::size_t i = 0; i < node.shape.rank; ++i) {
    if (((axes >> i) & 1U) != 0) times = times * node.shape[i];
  }
  return times.is_one() ? g : g * g.graph->count(times, g.dtype());
}

/// Adds the gradients given by node `from`'s rule to those from other nodes.
constexpr void add_up(GraphBuilder& g, const Node& from, const ConstexprVector<Given>& given,
                      ConstexprVector<int>& gradient) {
  for (const Given& x : given) {
    const Shape shape = g.node(x.input).shape;
    const Tensor part = unbroadcast(times_repetitions({&g, x.gradient}, shape, from), shape);
    int& slot = gradient[static_cast<std::size_t>(x.input)];
    slot = slot < 0 ? part.id : sum_of_gradients({&g, slot}, part).id;
  }
}
}  // namespace detail

/// d loss / d x for every node up to the loss, as node ids; -1 if there is none. A gradient may have a smaller shape
/// than its node and then broadcasts to it.
constexpr ConstexprVector<int> gradients(Tensor loss) {
  GraphBuilder& g = *loss.graph;
  if (loss.shape().rank != 0) graph_error::loss_is_not_a_scalar();
  const ConstexprVector<char> needed = detail::needed_nodes(g, loss.id);
  ConstexprVector<int> gradient(needed.size(), -1);
  gradient[static_cast<std::size_t>(loss.id)] = g.constant(computed_as(loss.dtype()), 1).id;
  detail::Recomputer recomputed(g, loss.id);
  for (int i = loss.id; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (gradient[at] < 0 || needed[at] == 0 || g.node(i).op->kind == OpKind::source) continue;
    recomputed.enter(i, gradient[at]);
    g.read_variables_as_at(g.node(i).moment < 0 ? i : g.node(i).moment);
    ConstexprVector<Given> given;
    GradientScope scope(g, i, gradient[at], needed, given);
    scope.read(recomputed);
    if (g.node(i).is(op::assign)) {
      scope.give(0, scope.upstream());  // the loss reads the assigned value as the variable
    } else {
      if (g.node(i).op->gradient == nullptr) graph_error::operation_has_no_gradient();
      g.node(i).op->gradient(scope);
    }
    const Node from = g.node(i);  // a copy, because adding nodes may reallocate the table
    detail::add_up(g, from, given, gradient);
  }
  g.read_variables_as_at(-1);
  return gradient;
}

/// d loss / d x, with x's shape. x is a trainable variable that the loss depends on, or a value between one and the
/// loss. Of a placeholder, or of a variable that is not trainable, there is no gradient: loss_depends_on_no_variable.
constexpr Tensor gradient(Tensor loss, Tensor x) {
  const ConstexprVector<int> all = gradients(loss);
  const int id = x.id <= loss.id ? all[static_cast<std::size_t>(x.id)] : -1;
  if (id < 0) graph_error::loss_depends_on_no_variable();
  return broadcast_to({loss.graph, id}, x.shape());
}

}  // namespace crochet

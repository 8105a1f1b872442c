// SPDX-License-Identifier: Apache-2.0
// What a graph whose batch is divided among ranks needs besides the model: gradients and named scalars of the whole
// batch, and a check that all ranks give their variables the same values.
#pragma once
#include <crochet/graph/train/compute_gradients.hpp>
#include <crochet/graph/train/share_gradients.hpp>
#include <crochet/graph/train/spread.hpp>

namespace crochet::detail {

/// The spread of a loss that is minimized. A graph_error unless the gradient of the whole batch follows from those of
/// the ranks.
constexpr Spread spread_of_loss(Tensor loss) {
  if (!loss.graph->divides_batch()) return Spread::same;
  const Spread spread = find_spreads(*loss.graph, loss.id)[static_cast<std::size_t>(loss.id)];
  if (spread == Spread::rows || spread == Spread::other) graph_error::loss_is_no_mean_or_sum_over_the_batch();
  return spread;
}

/// As share_gradients(), before gradients are accumulated. Returns the spread that they have then.
constexpr Spread share_each_run(VariableGradients& gradients, Tensor loss) {
  const Spread spread = spread_of_loss(loss);
  if (!loss.graph->shares_each_run()) return spread;
  share_gradients(gradients, spread);
  return Spread::same;
}

/// Named scalars that are means or sums over the rows of the batch become those of the whole batch, so that hooks on
/// every rank read the values of one machine.
constexpr void share_named_scalars(GraphBuilder& g) {
  const ConstexprVector<Spread> spreads = find_spreads(g, g.size() - 1);
  const std::size_t names = g.graph().names.size();
  for (std::size_t i = 0; i < names; ++i) {
    const int id = g.graph().names[i].node;
    const Node& n = g.node(id);
    const Spread spread = spreads[static_cast<std::size_t>(id)];
    if (n.shape.rank > 0 || !has_gradient(n.dtype) || n.is(op::assign)) continue;
    if (spread != Spread::mean && spread != Spread::sum) continue;
    const DType type = n.dtype;
    // A value that is rounded is shared before it is, as on one machine.
    const bool rounds = type == DType::bfloat16 && n.is(op::cast);
    const Tensor exact = rounds ? Tensor{&g, n.inputs[0]} : cast(Tensor{&g, id}, computed_as(type));
    g.rename(i, cast(of_whole_batch(exact, spread), type));
  }
}

/// The first variable to which an assignment would give different values on different ranks; empty if there is none.
constexpr std::string_view variable_that_differs(const GraphBuilder& g) {
  const ConstexprVector<Spread> spreads = find_spreads(g, g.size() - 1);
  for (int i = 0; i < g.size(); ++i) {
    if (!g.node(i).is(op::assign) || spreads[static_cast<std::size_t>(i)] == Spread::same) continue;
    if (g.node(g.node(i).inputs[0]).attributes.ints[GraphBuilder::whole_of_part] != 0) continue;  // a rank's part
    const std::string_view name = g.name_of(g.node(i).inputs[0]);
    if (g.shares_each_run() || !name.ends_with("/gradient_accumulator")) return name;
  }
  return {};
}
/// A graph_error if there is one.
constexpr void check_assignments(const GraphBuilder& g) {
  const std::string_view name = variable_that_differs(g);
  if (!name.empty()) graph_error::variable_would_differ_between_ranks(name);
}

}  // namespace crochet::detail

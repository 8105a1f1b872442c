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

/// Named scalars that are means or sums over the rows of the batch become those of the whole batch, so that hooks on
/// every rank read the values of one machine. Sums of integers are exchanged as doubles, exact up to 2^53.
constexpr void share_named_scalars(GraphBuilder& g) {
  const ConstexprVector<Spread> spreads = find_spreads(g, g.size() - 1);
  const std::size_t names = g.graph().names.size();
  for (std::size_t i = 0; i < names; ++i) {
    const int id = g.graph().names[i].node;
    const Node& n = g.node(id);
    // A value that is rounded is shared before it is, as on one machine.
    const bool rounds = n.is(op::cast) && is_floating(g.node(n.inputs[0]).dtype) &&
                        (n.dtype == DType::bfloat16 || !is_floating(n.dtype));
    const int exact = rounds ? n.inputs[0] : id;
    const Spread spread = spreads[static_cast<std::size_t>(exact)];
    if (n.shape.rank > 0 || n.dtype == DType::boolean || n.is(op::assign)) continue;
    if (spread != Spread::mean && spread != Spread::sum) continue;
    const DType type = n.dtype, from = g.node(exact).dtype;
    const Tensor shared = cast(Tensor{&g, exact}, is_floating(from) ? computed_as(from) : DType::float64);
    g.rename(i, cast(of_whole_batch(shared, spread), type));
  }
}

/// The first variable to which an assignment would give different values on different ranks; empty if there is none.
constexpr std::string_view variable_that_differs(const GraphBuilder& g) {
  const ConstexprVector<Spread> spreads = find_spreads(g, g.size() - 1);
  for (int i = 0; i < g.size(); ++i) {
    if (!g.node(i).is(op::assign) || spreads[static_cast<std::size_t>(i)] == Spread::same) continue;
    const int variable = g.node(i).inputs[0];
    if (!GraphBuilder::is_of_one_rank(g.node(variable).attributes)) return g.name_of(variable);
  }
  return {};
}
/// A graph_error if there is one.
constexpr void check_assignments(const GraphBuilder& g) {
  const std::string_view name = variable_that_differs(g);
  if (!name.empty()) graph_error::variable_would_differ_between_ranks(name);
}

}  // namespace crochet::detail

// SPDX-License-Identifier: Apache-2.0
// see_assignments: says for each use of a variable which value it is. A use made after an assignment sees the assigned
// value, but only in a plan that runs the assignment for other reasons: a value that looks at a variable changes
// nothing.
#pragma once
#include <crochet/graph/passes/prune.hpp>

namespace crochet {

/// The value of `variable` that a node sees which reads as at node `moment`: the latest live assignment before that, or
/// the variable itself. `is_live(i)`: whether the plan needs node i. For Graph and Subgraph alike.
template <class Nodes, class IsLive>
constexpr int variable_as_at(const Nodes& nodes, int variable, int moment, IsLive is_live) {
  for (int i = moment; i-- > 0;) {
    const Node& n = nodes[detail::at(i)];
    if (n.is(op::assign) && n.inputs[0] == variable && is_live(i)) return i;
  }
  return variable;
}

/// For the whole table, before anything is pruned: moments are places in it. Moments are used up.
constexpr Subgraph see_assignments(const Subgraph& g) {
  const std::vector<char> live = live_nodes(g);
  bool assigned = false;
  for (const Node& n : g.nodes) assigned = assigned || n.is(op::assign);
  Subgraph seen = g;
  for (std::size_t i = 0; i < seen.nodes.size(); ++i) {
    Node& n = seen.nodes[i];
    const int moment = n.moment < 0 ? static_cast<int>(i) : n.moment;
    n.moment = -1;
    if (!assigned || live[i] == 0) continue;
    for (std::size_t k = n.is(op::assign) ? 1 : 0; k < max_inputs; ++k) {
      if (n.inputs[k] < 0 || !g.nodes[detail::at(n.inputs[k])].is(op::variable)) continue;
      n.inputs[k] = variable_as_at(g.nodes, n.inputs[k], moment, [&](int a) { return live[detail::at(a)] != 0; });
    }
  }
  return seen;
}

}  // namespace crochet

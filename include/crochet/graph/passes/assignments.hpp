// SPDX-License-Identifier: Apache-2.0
// see_assignments: resolves for each use of a variable which value it reads. A use after an assignment reads the
// assigned value, but only in a plan that runs the assignment for other reasons: fetching a variable does not cause an
// assignment. Dependencies of live values become targets.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/control.hpp>
#include <crochet/graph/passes/prune.hpp>

namespace crochet {

/// The value of `variable` as read at node `moment`: the latest live assignment before it, or the variable itself.
/// `is_live(i)`: whether the plan needs node i. Works for Graph and Subgraph.
template <class Nodes, class IsLive>
constexpr int variable_as_at(const Nodes& nodes, int variable, int moment, IsLive is_live) {
  for (int i = moment; i-- > 0;) {
    const Node& n = nodes[detail::at(i)];
    if (n.is(op::assign) && n.inputs[0] == variable && is_live(i)) return i;
  }
  return variable;
}

/// The pass. It must run on the complete node table, before pruning, because moments are indices into it. Clears the
/// moments.
constexpr Subgraph see_assignments(Subgraph&& seen) {
  const ConstexprVector<char> live_ones = live_nodes(seen);
  const char* const live = live_ones.data();
  Node* const nodes = seen.nodes.data();
  const auto count = static_cast<int>(seen.nodes.size());
  // The live assignments of a variable as a linked list, the latest first.
  ConstexprVector<int> latest_of(seen.nodes.size(), -1), earlier_of(seen.nodes.size(), -1);
  int *const latest = latest_of.data(), *const earlier = earlier_of.data();
  for (int i = 0; i < count; ++i) {
    if (nodes[i].op != &op::assign || live[i] == 0) continue;
    earlier[i] = latest[nodes[i].inputs[0]];
    latest[nodes[i].inputs[0]] = i;
  }
  for (int i = 0; i < count; ++i) {
    Node& n = nodes[i];
    const int moment = n.moment < 0 ? i : n.moment;
    n.moment = -1;
    if (n.op == &op::with_dependencies && live[i] != 0) {
      seen.targets.push_back(n.inputs[1]);
      n.op = &op::identity;
      n.inputs[1] = -1;
    }
    for (std::size_t k = n.op == &op::assign ? 1 : 0; k < max_inputs; ++k) {
      const int variable = n.inputs[k];
      if (variable < 0 || latest[variable] < 0 || live[i] == 0) continue;
      int seen_as = latest[variable];
      while (seen_as >= moment) seen_as = earlier[seen_as];
      if (seen_as >= 0) n.inputs[k] = seen_as;
    }
  }
  return std::move(seen);
}
constexpr Subgraph see_assignments(const SubgraphView& g) { return see_assignments(detail::copied(g)); }

}  // namespace crochet

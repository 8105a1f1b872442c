// SPDX-License-Identifier: Apache-2.0
// prune: keeps what the demand needs. Assignments live only if a target or a fetched value needs them.
#pragma once
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// Which nodes the demand needs.
constexpr std::vector<char> live_nodes(const Subgraph& g) {
  std::vector<char> marks(g.nodes.size(), 0);
  char* const live = marks.data();
  const Node* const nodes = g.nodes.data();
  for (int f : g.fetched) live[f] = 1;
  for (int t : g.targets) live[t] = 1;
  for (auto i = static_cast<int>(g.nodes.size()) - 1; i >= 0; --i) {
    if (live[i] == 0) continue;
    for (std::size_t k = 0; k < max_inputs && nodes[i].inputs[k] >= 0; ++k) live[nodes[i].inputs[k]] = 1;
  }
  return marks;
}

constexpr Subgraph prune(const Subgraph& g) {
  const std::vector<char> marks = live_nodes(g);
  const char* const live = marks.data();
  return detail::rewrite(
      g, [=](Subgraph& to, const Node& n, int old) { return live[old] != 0 ? detail::append(to, n) : -1; });
}

}  // namespace crochet

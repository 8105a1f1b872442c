// SPDX-License-Identifier: Apache-2.0
// prune: keeps what the demand needs. Assignments live only if a target or a fetched value needs them.
#pragma once
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// Which nodes the demand needs.
constexpr std::vector<char> live_nodes(const Subgraph& g) {
  std::vector<char> live(g.nodes.size(), 0);
  for (int f : g.fetched) live[detail::at(f)] = 1;
  for (int t : g.targets) live[detail::at(t)] = 1;
  for (std::size_t i = g.nodes.size(); i-- > 0;) {
    if (live[i] == 0) continue;
    for (int input : g.nodes[i].inputs) {
      if (input >= 0) live[detail::at(input)] = 1;
    }
  }
  return live;
}

constexpr Subgraph prune(const Subgraph& g) {
  const std::vector<char> live = live_nodes(g);
  return detail::rewrite(
      g, [&](Subgraph& to, const Node& n, int old) { return live[detail::at(old)] != 0 ? detail::append(to, n) : -1; });
}

}  // namespace crochet

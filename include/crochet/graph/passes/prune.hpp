// SPDX-License-Identifier: Apache-2.0
// prune: removes nodes that the demand does not need. An assignment is kept only if a target or a fetched value depends
// on it.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// By node: whether the demand needs it.
constexpr ConstexprVector<char> live_nodes(const SubgraphView& g) {
  ConstexprVector<char> marks(g.nodes.size(), 0);
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

/// In place: usually all nodes are needed, and copying nodes costs more compile time than testing them.
constexpr Subgraph prune(Subgraph&& g) {
  const ConstexprVector<char> marks = live_nodes(g);
  const char* const live = marks.data();
  ConstexprVector<int> places(g.nodes.size(), -1);
  int* const place = places.data();
  Node* const nodes = g.nodes.data();
  const auto count = static_cast<int>(g.nodes.size());
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    if (live[i] == 0) continue;
    if (kept != i) nodes[kept] = nodes[i];
    for (std::size_t k = 0; k < max_inputs && nodes[kept].inputs[k] >= 0; ++k) {
      nodes[kept].inputs[k] = place[nodes[kept].inputs[k]];
    }
    place[i] = kept++;
  }
  g.nodes.resize(static_cast<std::size_t>(kept));
  for (int& f : g.fetched) f = place[f];
  for (int& t : g.targets) t = place[t];
  return std::move(g);
}
constexpr Subgraph prune(const SubgraphView& g) { return prune(detail::copied(g)); }

}  // namespace crochet

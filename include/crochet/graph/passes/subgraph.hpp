// SPDX-License-Identifier: Apache-2.0
// What the passes work on: the nodes that one demand needs, in an order where inputs come before users, and the
// outputs. Every pass is a constexpr function over it, testable at run time too.
#pragma once
#include <vector>

#include <crochet/graph/op.hpp>
#include <crochet/graph/ops/sources.hpp>

namespace crochet {

/// Nodes and what is wanted of them: `fetched` values are kept for the caller, `targets` are run.
struct Subgraph {
  std::vector<Node> nodes;
  std::vector<int> fetched;
  std::vector<int> targets;
};

namespace detail {
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Rebuilds a subgraph node by node: `visit(new graph, old node with new inputs)` says which new node stands for it.
template <class Visit>
constexpr Subgraph rewrite(const Subgraph& from, Visit visit) {
  Subgraph to;
  const auto count = static_cast<int>(from.nodes.size());
  to.nodes.reserve(from.nodes.size() + from.nodes.size() / 4 + 8);
  std::vector<int> places(from.nodes.size(), -1);
  // Pointers and not operator[]: compilers count the calls.
  int* const place = places.data();
  const Node* const nodes = from.nodes.data();
  for (int i = 0; i < count; ++i) {
    Node n = nodes[i];
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) n.inputs[k] = place[n.inputs[k]];
    place[i] = visit(to, n, i);
  }
  for (int f : from.fetched) to.fetched.push_back(place[f]);
  for (int t : from.targets) to.targets.push_back(place[t]);
  return to;
}

constexpr int append(Subgraph& g, const Node& n) {
  g.nodes.push_back(n);
  return static_cast<int>(g.nodes.size()) - 1;
}
}  // namespace detail

}  // namespace crochet

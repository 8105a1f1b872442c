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
  std::vector<int> place(from.nodes.size(), -1);
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    Node n = from.nodes[i];
    for (int& input : n.inputs) {
      if (input >= 0) input = place[at(input)];
    }
    place[i] = visit(to, n, static_cast<int>(i));
  }
  for (int f : from.fetched) to.fetched.push_back(place[at(f)]);
  for (int t : from.targets) to.targets.push_back(place[at(t)]);
  return to;
}

constexpr int append(Subgraph& g, const Node& n) {
  g.nodes.push_back(n);
  return static_cast<int>(g.nodes.size()) - 1;
}
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The data structure of the passes: the nodes needed by one demand, with inputs before users, and the outputs. Every
// pass is a constexpr function over it and can also be tested at run time.
#pragma once
#include <span>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/op.hpp>
#include <crochet/graph/core/sources.hpp>

namespace crochet {

/// Nodes and outputs: `fetched` values are kept for the caller, `targets` are only run.
struct Subgraph {
  ConstexprVector<Node> nodes;
  ConstexprVector<int> fetched;
  ConstexprVector<int> targets;
};

/// A read-only view of a subgraph in any storage. Passes that change nothing, or make a new subgraph, need no copy.
struct SubgraphView {
  std::span<const Node> nodes;
  std::span<const int> fetched;
  std::span<const int> targets;

  constexpr SubgraphView(std::span<const Node> n, std::span<const int> f, std::span<const int> t)
      : nodes(n), fetched(f), targets(t) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a subgraph can be looked at
  constexpr SubgraphView(const Subgraph& g)
      : nodes{g.nodes.data(), g.nodes.size()},
        fetched{g.fetched.data(), g.fetched.size()},
        targets{g.targets.data(), g.targets.size()} {}
};

namespace detail {
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// An array of value-initialised elements for passes. Direct access, because calls count towards the constexpr limits.
template <class T>
struct Block {
  T* const data;

  constexpr explicit Block(std::size_t count) : data(new T[count]) {}
  constexpr ~Block() { delete[] data; }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

/// Rebuilds a subgraph node by node. `visit(new graph, old node with new inputs)` returns the index of the replacement.
template <class Visit>
constexpr Subgraph rewrite(const SubgraphView& from, Visit visit) {
  Subgraph to;
  const auto count = static_cast<int>(from.nodes.size());
  to.nodes.reserve(from.nodes.size() + from.nodes.size() / 4 + 8);
  ConstexprVector<int> places(from.nodes.size(), -1);
  // Pointers instead of operator[], because each call counts towards the constexpr limits.
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

constexpr Subgraph copied(const SubgraphView& g) {
  const auto copy = []<class T>(std::span<const T> s) { return ConstexprVector<T>(s.data(), s.data() + s.size()); };
  return {copy(g.nodes), copy(g.fetched), copy(g.targets)};
}

constexpr int append(Subgraph& g, const Node& n) {
  g.nodes.push_back(n);
  return static_cast<int>(g.nodes.size()) - 1;
}
}  // namespace detail

}  // namespace crochet

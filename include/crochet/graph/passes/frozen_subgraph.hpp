// SPDX-License-Identifier: Apache-2.0
// The fixed-size form of a subgraph, kept between two passes.
#pragma once
#include <crochet/graph/core/frozen_list.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// A subgraph of up to N nodes, F fetched values and T targets.
template <std::size_t N, std::size_t F, std::size_t T>
struct FrozenSubgraph {
  static constexpr std::size_t room = N + 4;
  FrozenList<Node, N> nodes;
  FrozenList<int, F> fetched;
  FrozenList<int, T> targets;

  constexpr explicit FrozenSubgraph(const Subgraph& g) : nodes(g.nodes), fetched(g.fetched), targets(g.targets) {}

  constexpr bool fits() const { return nodes.fits(); }
  constexpr std::size_t needed() const { return nodes.count; }
  constexpr SubgraphView view() const {
    return {{nodes.data(), nodes.size()}, {fetched.data(), fetched.size()}, {targets.data(), targets.size()}};
  }
};

}  // namespace crochet

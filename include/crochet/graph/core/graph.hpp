// SPDX-License-Identifier: Apache-2.0
// The graph: a table of nodes in creation order (inputs before users) and the names of some of them. Passes take a
// graph and return another. No templates.
#pragma once
#include <string_view>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/op.hpp>
#include <crochet/graph/core/text_pool.hpp>

namespace crochet {

/// A graph under construction or in a pass. `FrozenGraph` is its fixed-size form.
struct Graph {
  ConstexprVector<Node> nodes;
  ConstexprVector<PooledName> names;
  ConstexprVector<PooledName> symbols;
  TextPool text;

  constexpr int add(const Node& n) {
    // Large growth steps, because moving nodes costs more compile time than memory does.
    if (nodes.size() == nodes.capacity()) nodes.reserve(4 * nodes.size() + 64);
    nodes.push_back(n);
    return static_cast<int>(nodes.size()) - 1;
  }
  constexpr PooledName pool(std::string_view name, int node) {
    const PooledName p{static_cast<std::int32_t>(text.size()), static_cast<std::int32_t>(name.size()), node,
                       hash_of(name)};
    text.append(name);
    return p;
  }
  constexpr std::string_view text_of(const PooledName& p) const {
    return {text.data() + p.begin, static_cast<std::size_t>(p.length)};
  }
};

/// The node with a name; -1 if there is none. Works for Graph and FrozenGraph.
template <class G>
constexpr int find_node(const G& g, std::string_view name) {
  const std::uint32_t hash = hash_of(name);
  const PooledName* p = g.names.data();
  const PooledName* const end = p + g.names.size();
  while (p != end && (p->hash != hash || g.text_of(*p) != name)) ++p;
  return p == end ? -1 : p->node;
}

/// The first name of a node; empty if it has none.
template <class G>
constexpr std::string_view name_of_node(const G& g, int node) {
  const std::int32_t name = g.nodes.data()[node].name;
  return name < 0 ? std::string_view{} : g.text_of(g.names.data()[name]);
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The graph: a table of nodes in creation order (inputs before users) and the names given to some of them. Passes take
// one and return another; nothing here is a template.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <crochet/graph/op.hpp>

namespace crochet {

/// A name in a text pool: names are stored as characters, because the compiler cannot keep strings.
struct PooledName {
  std::int32_t begin = 0;
  std::int32_t length = 0;
  std::int32_t node = -1;  ///< what it names: a node, or the number of a dynamic dimension
};

/// A graph under construction or under a pass. `FrozenGraph` is its form at rest.
struct Graph {
  std::vector<Node> nodes;
  std::vector<PooledName> names;
  std::vector<PooledName> symbols;
  std::vector<char> text;

  constexpr int add(const Node& n) {
    nodes.push_back(n);
    return static_cast<int>(nodes.size()) - 1;
  }
  constexpr PooledName pool(std::string_view name, int node) {
    PooledName p{static_cast<std::int32_t>(text.size()), static_cast<std::int32_t>(name.size()), node};
    for (char c : name) text.push_back(c);
    return p;
  }
  constexpr std::string_view text_of(const PooledName& p) const {
    return {text.data() + p.begin, static_cast<std::size_t>(p.length)};
  }
};

/// The node that a name stands for; -1 if none does. For Graph and FrozenGraph alike.
template <class G>
constexpr int find_node(const G& g, std::string_view name) {
  for (const PooledName& p : g.names) {
    if (static_cast<std::size_t>(p.length) == name.size() && g.text_of(p) == name) return p.node;
  }
  return -1;
}

}  // namespace crochet

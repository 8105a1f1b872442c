// SPDX-License-Identifier: Apache-2.0
// GraphTable: the run-time description of a graph, for display and tools. It contains no rules and no kernels.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <crochet/graph/core/graph.hpp>

namespace crochet {

/// A graph's nodes, inputs before users. Has static lifetime.
struct GraphTable {
  struct Node {
    std::string_view name;  ///< its first name; empty if it has none
    std::string_view op;
    OpKind kind = OpKind::source;
    DType dtype = DType::float32;
    bool of_gradients = false;  ///< made by gradients(): it reads variables as of an earlier node
    Shape shape;
    std::int32_t inputs[max_inputs]{};  ///< node ids, then -1
    Attributes attributes;
    bool has_tensor = true;  ///< false: its output has no tensor type (e.g. a text)
    bool has_shape = true;   ///< false: its rank exceeds max_rank; `shape` is then empty, and files contain no shape
  };

  std::span<const Node> nodes;
};

namespace detail {

/// The table is a separate constant, so that a program that uses it does not contain the graph with all its rules.
template <class E>
struct TableOf {
  static constexpr auto text = E::graph.text;

  static constexpr std::string_view name_of(std::int32_t name) {
    if (name < 0) return {};
    const PooledName& p = E::graph.names.data()[name];
    return {text.data() + p.begin, static_cast<std::size_t>(p.length)};
  }
  static constexpr auto nodes = [] {
    std::array<GraphTable::Node, E::graph.nodes.size()> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Node& n = E::graph.nodes[i];
      GraphTable::Node& to = table[i];
      to = {name_of(n.name), n.op->name, n.op->kind, n.dtype, n.moment >= 0, n.shape, {}, n.attributes};
      for (std::size_t k = 0; k < max_inputs; ++k) to.inputs[k] = n.inputs[k];
    }
    return table;
  }();
};

}  // namespace detail

/// The graph of an executor, including the hooks' extensions.
template <class E>
constexpr GraphTable graph_table() {
  return {detail::TableOf<E>::nodes};
}

}  // namespace crochet

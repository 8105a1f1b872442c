// SPDX-License-Identifier: Apache-2.0
// Names for all nodes of a graph: unique, in nested scopes, legal in TensorFlow. Models name the values that they
// fetch; a graph display, a dump and a watch need a name for each node. The rules also run at compile time to match
// watches. Names are stored as references to existing text, because the constexpr limits count operations per
// character. Stages are separate functions, so that each can be a separate constant.
//
// The rules: a named node keeps its name. Any other is `<scope>/<operation>`, with the scope
// - of a variable that it uses (`hidden/kernel`: `hidden`), else the scope of all its inputs;
// - `gradients` for nodes made by gradients();
// - of the first user, for constants;
// - common to all users, for nodes without a scope and nodes after the gradients;
// - named like the target, for nodes that only a named target needs.
// An assignment is `<scope>/<variable>`. Further nodes of the same name get `_1`, `_2` and so on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/names/node_name.hpp>
#include <crochet/graph/names/node_numbers.hpp>
#include <crochet/graph/names/node_scopes.hpp>

namespace crochet {

/// A name for each node. Throws LogicError if a node's own name has no character that is legal in TensorFlow.
inline std::vector<std::string> node_names(const GraphTable& graph) {
  ConstexprVector<NodeScope> scopes(graph.nodes.size());
  detail::NodeScopes finder(graph.nodes, scopes.data());
  finder.sweep_forward();
  finder.sweep_backward();
  ConstexprVector<NodeName> parts(graph.nodes.size());
  detail::NodeNumbers(graph.nodes, scopes.data(), parts.data()).run();
  std::vector<std::string> names(graph.nodes.size());
  for (std::size_t i = 0; i < names.size(); ++i) spell_node_name(parts[i], [&](char c) { names[i] += c; });
  return names;
}

/// As above at compile time, for a constant table.
template <const auto& Nodes>
struct NodeNames {
 private:
  static constexpr std::size_t count = Nodes.size();
  struct Scopes {
    NodeScope of[count == 0 ? 1 : count];
  };
  static constexpr Scopes forward = [] {
    Scopes all{};
    detail::NodeScopes(Nodes, all.of).sweep_forward();
    return all;
  }();
  static constexpr Scopes scopes = [] {
    Scopes all = forward;
    detail::NodeScopes(Nodes, all.of).sweep_backward();
    return all;
  }();
  struct Names {
    NodeName of[count == 0 ? 1 : count];
  };
  static constexpr Names names = [] {
    Names all{};
    detail::NodeNumbers(Nodes, scopes.of, all.of).run();
    return all;
  }();

 public:
  static constexpr const NodeName& of(std::size_t node) { return names.of[node]; }
};

}  // namespace crochet

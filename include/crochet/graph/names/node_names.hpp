// SPDX-License-Identifier: Apache-2.0
// Names for all nodes of a graph: unique, in scopes that fold, legal in TensorFlow. Models name what they fetch; a
// drawing, a dump and a watch need a name for each node. The rules run in the compiler too, where a watch is matched:
// names are told as references to text that is there already, since compilers count what is done for each character.
// Stages are functions of their own, so that each can be a constant of its own.
//
// A named node keeps its name. Any other is `<scope>/<operation>`: it lies in the scope of a variable that it uses
// (`hidden/kernel`: `hidden`), else where all its inputs lie; what gradients() made in `gradients`; constants with
// their first user; what is left, and what comes after the gradients, in the scope that all its users share; what only
// a named target needs in a scope of the target's name; an assignment in `<scope>/<variable>`. A second one of a name
// gets `_1`, a third `_2`.
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

/// A name for each node. Throws LogicError if a node's own name has no character that TensorFlow takes.
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

/// The same in the compiler, for a table that is a constant.
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

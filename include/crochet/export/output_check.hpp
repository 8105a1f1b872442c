// SPDX-License-Identifier: Apache-2.0
// ExportIsUsable: the checks, at compile time, of a model and the outputs to export.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/graph/frozen.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/session/request_check.hpp>

namespace crochet::detail {

/// The graph of a model and the names of its values.
template <class Model>
struct ExportTables {
  static constexpr auto graph = freeze_graph<Model>();
  static constexpr auto text = graph.text;

  template <class Use>
  static constexpr void for_each_value(Use use) {
    for (const PooledName& p : graph.names) {
      if (graph.nodes[at(p.node)].op->kind != OpKind::group) use(p);
    }
  }
  static constexpr std::size_t values = [] {
    std::size_t n = 0;
    for_each_value([&](const PooledName&) { ++n; });
    return n;
  }();
  static constexpr auto fetchable = [] {
    std::array<std::string_view, values> names{};
    std::size_t n = 0;
    for_each_value([&](const PooledName& p) {
      names[n++] = {text.data() + p.begin, static_cast<std::size_t>(p.length)};
    });
    return names;
  }();
  static constexpr std::string_view name_of(int node) {
    const PooledName& p = graph.names[at(graph.nodes[at(node)].name)];
    return {text.data() + p.begin, static_cast<std::size_t>(p.length)};
  }
};

/// The variable that a run of the outputs changes, and the output that is a variable, as nodes; -1: none. And whether
/// it normalizes by its batch.
template <class T, class... Output>
struct ExportedVariableUse {
  struct OfNodes {
    int changed = -1;
    bool normalizes = false;
  };
  static constexpr OfNodes of_nodes = [] {
    const Subgraph s =
        select_nodes(T::graph, ConstexprVector<int>{find_node(T::graph, Output::view())...}, ConstexprVector<int>{});
    OfNodes found;
    for (const Node& n : s.nodes) {
      if (n.is(op::assign) && found.changed < 0) found.changed = s.nodes[at(n.inputs[0])].origin;
      found.normalizes = found.normalizes || normalizes_by_batch(n);
    }
    return found;
  }();
  static constexpr int changed = of_nodes.changed;
  static constexpr bool normalizes = of_nodes.normalizes;
  static constexpr int output = [] {
    for (const int node : {find_node(T::graph, Output::view())...}) {
      if (T::graph.nodes[at(node)].is(op::variable)) return node;
    }
    return -1;
  }();
};

/// What is wrong with the outputs: a std::type_identity of a crochet::error.
template <class T, class... Output>
constexpr auto export_reason() {
  if constexpr (sizeof...(Output) == 0) {
    return std::type_identity<error::names_no_output>{};
  } else {
    using Unknown = decltype(first_reason(fetch_reason<T, error::the_caller, Output>()...));
    if constexpr (!std::is_same_v<Unknown, Ok>) {
      return Unknown{};
    } else {
      using Use = ExportedVariableUse<T, Output...>;
      constexpr int node = Use::changed >= 0 ? Use::changed : Use::output;
      if constexpr (node < 0) {
        return std::type_identity<
            std::conditional_t<Use::normalizes, error::an_output_uses_the_statistics_of_its_batch, error::none>>{};
      } else {
        using Variable = spelt<Name<FixedString<T::name_of(node).size() + 1>{T::name_of(node)}>>;
        using Changes = error::exports_a_change_of_a_variable<Variable>;
        return std::type_identity<
            std::conditional_t<(Use::changed >= 0), Changes, error::outputs_a_variable<Variable>>>{};
      }
    }
  }
}

/// Reports the mistake, if there is one, as one compile error.
template <class Model, FixedString... Outputs>
constexpr bool export_is_usable() {
  if constexpr (Builds<Model>) {
    using Error = typename decltype(export_reason<ExportTables<Model>, Name<Outputs>...>())::type;
    static_assert(call_is_usable<Error>, "crochet: crochet::error says why");
    return std::is_same_v<Error, error::none>;
  } else if constexpr (!Defines<Model>) {
    static_assert(model_is_usable<define_error<Model>>, "crochet: crochet::error says why");
    return false;
  } else {
    BrokenExtension<Model>::explain();
    return false;
  }
}
template <class Model, FixedString... Outputs>
concept ExportIsUsable = export_is_usable<Model, Outputs...>();

}  // namespace crochet::detail

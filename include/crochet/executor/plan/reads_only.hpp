// SPDX-License-Identifier: Apache-2.0
// ReadsOnly: whether runs of a plan only read the variables, so that several threads can run it at a time, and whether
// they are of inference.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/graph/core/sources.hpp>
#include <crochet/graph/ops/normalization.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P>
class ReadsOnly {
 public:
  /// What a Predictor's run must not have: an assignment, a variable among its outputs, which is copied to a common
  /// memory when it is read, or a normalization by the batch. A std::type_identity of a crochet::error.
  static constexpr auto reason() {
    constexpr int fetched = first_fetched();
    if constexpr (first_assigned() >= 0) {
      return assigns_reason<error::an_output_changes_a_variable>();
    } else if constexpr (fetched >= 0) {
      return std::type_identity<error::outputs_a_variable<spelt_at<fetched>>>{};
    } else if constexpr (normalizes()) {
      return std::type_identity<error::an_output_uses_the_statistics_of_its_batch>{};
    } else {
      return std::type_identity<error::none>{};
    }
  }
  /// Error<name of a variable> if such a run changes one.
  template <template <class> class Error>
  static constexpr auto assigns_reason() {
    constexpr int assigned = first_assigned();
    if constexpr (assigned >= 0) {
      return std::type_identity<Error<spelt_at<assigned>>>{};
    } else {
      return std::type_identity<error::none>{};
    }
  }

 private:
  /// The name of a node of the selection.
  template <int Id>
  static constexpr std::string_view name_at() {
    constexpr auto name = P::selected.nodes[static_cast<std::size_t>(Id)].name;
    if constexpr (name < 0) {
      return {};
    } else {
      return detail::text_of<T::text>(T::graph.names[static_cast<std::size_t>(name)]);
    }
  }
  template <int Id>
  using spelt_at = crochet::detail::spelt<Name<FixedString<name_at<Id>().size() + 1>{name_at<Id>()}>>;

  static constexpr int first_assigned() {
    for (const Node& n : P::selected.view().nodes) {
      if (n.is(op::assign)) return n.inputs[0];
    }
    return -1;
  }
  static constexpr bool normalizes() {
    for (const Node& n : P::selected.view().nodes) {
      if (normalizes_by_batch(n)) return true;
    }
    return false;
  }
  static constexpr int first_fetched() {
    const SubgraphView graph = P::selected.view();
    for (const int id : graph.fetched) {
      if (graph.nodes[static_cast<std::size_t>(id)].is(op::variable)) return id;
    }
    return -1;
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

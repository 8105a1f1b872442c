// SPDX-License-Identifier: Apache-2.0
// variable_reason: why a name is no variable of the graph.
#pragma once
#include <type_traits>

#include <crochet/base/error/hint.hpp>
#include <crochet/base/error/request.hpp>
#include <crochet/base/error/words.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/graph/frozen.hpp>

namespace crochet::cpu::CROCHET_ISA {
namespace detail {
constexpr bool is_variable(const Node& n) { return n.is(op::variable); }

template <class T>
inline constexpr auto variable_names = names_of<T::graph, T::text, count_names<T::graph>(is_variable)>(is_variable);
}  // namespace detail

/// A std::type_identity of error::none if N names a variable, else of the error. T: the tables of the graph.
template <class T, class N>
constexpr auto variable_reason() {
  if constexpr (!crochet::detail::AnyName<N>) {
    return std::type_identity<crochet::detail::name_reason<N>>{};
  } else if constexpr (T::template node_id<N> >= 0 && T::template node<N>().is(op::variable)) {
    return std::type_identity<error::none>{};
  } else {
    return std::type_identity<error::this_is_no_variable_of_the_graph<
        crochet::detail::spelt<N>, crochet::detail::hint<N, detail::variable_names<T>>>>{};
  }
}

}  // namespace crochet::cpu::CROCHET_ISA

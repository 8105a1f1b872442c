// SPDX-License-Identifier: Apache-2.0
// Which executor a session drives: the one it was given, or, when hooks extend the graph, the extended one.
#pragma once

#include <type_traits>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet::detail {

template <class H>
inline constexpr bool extends_graph = phase::extend_graph::handled<H, GraphBuilder>;

template <class Exec>
constexpr auto extended_by_all(List<>) {
  return std::type_identity<Exec>{};
}
template <class Exec, class First, class... H>
constexpr auto extended_by_all(List<First, H...>) {
  return std::type_identity<typename std::remove_reference_t<Exec>::template extended_by<First, H...>>{};
}

/// By those hooks that extend the graph; the others have no part in the executor's type.
template <class... H>
struct ExtendedBy {
  template <class Exec>
  static constexpr auto type() {
    return extended_by_all<Exec>(filtered<Where<extends_graph<H>...>, H...>{});
  }
};

template <class Exec, class Chain>
struct ExtendedExecutor;
template <class Exec, class... H>
struct ExtendedExecutor<Exec, HookChain<H...>> {
  using type = typename decltype(ExtendedBy<H...>::template type<Exec>())::type;
};
/// Exec itself, which may be a reference, unless a hook of the chain extends the graph.
template <class Exec, class Chain>
using extended_executor = typename ExtendedExecutor<Exec, typename std::remove_cvref_t<Chain>::Flat>::type;

}  // namespace crochet::detail

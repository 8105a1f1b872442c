// SPDX-License-Identifier: Apache-2.0
// The fault of one hook under an executor: its members, the names it uses, its plans, its probe.
#pragma once

#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/request_check.hpp>
#include <crochet/session/session_arguments.hpp>

namespace crochet::detail {

template <class E, class H, class N>
constexpr auto plan_reason() {
  if constexpr (can_run<E, N>) {
    return Ok{};
  } else {
    return std::type_identity<error::belongs_to_a_plan_that_is_not_in_the_graph<H, spelt<N>, hint<N, E::targets>>>{};
  }
}
template <class E, class H, class... N>
constexpr auto plans_reason(Names<N...>) {
  return first_reason(Ok{}, plan_reason<E, H, N>()...);
}

/// The fault in the names that hook H uses: those it lists, its plans, and its request in a bare run.
template <class E, class H>
constexpr auto names_reason() {
  using Requested = requested_args<H, typename SessionArguments<E>::template Context<H>>;
  using Listed = RunArgs<declared_fetches<H>, Targets<>, Feeds<>>;
  constexpr auto requested = first_reason(request_reason<E, H>(std::type_identity<Listed>{}),
                                          request_reason<E, H>(std::type_identity<Requested>{}));
  if constexpr (requires { typename H::plans; }) {
    return first_reason(requested, plans_reason<E, H>(typename H::plans{}));
  } else {
    return requested;
  }
}

/// A probe whose watches have a pattern for names, and an executor that the pattern can be checked against.
template <class E, class P>
concept HasPattern = requires {
  typename P::watches::pattern;
  E::template has_node_for<typename P::watches>;
};
/// The fault in the nodes that the probe of a hook watches.
template <class E, class H>
constexpr auto watch_reason() {
  if constexpr (!HasPattern<E, probe_of<H>>) {
    return Ok{};
  } else if constexpr (E::template has_node_for<typename probe_of<H>::watches>) {
    return Ok{};
  } else {
    using Pattern = typename probe_of<H>::watches::pattern;
    return std::type_identity<error::watches_no_node_of_this_model<H, spelt<Pattern>, hint<Pattern, E::fetchable>>>{};
  }
}

/// The fault in the probe that a hook declares.
template <class E, class H>
constexpr auto probe_reason() {
  if constexpr (!StatesProbe<H>) {
    return Ok{};
  } else if constexpr (Decorates<H>) {
    return probe_reason<E, typename H::decorates>();
  } else if constexpr (!requires(H & hook, probe_of<H> * &due) { due = hook.due_probe(); }) {
    return std::type_identity<error::states_a_probe_but_has_no_due_probe<H>>{};
  } else if constexpr (!TakesProbes<E>) {
    return std::type_identity<error::states_a_probe_but_this_executor_takes_none<H>>{};
  } else {
    return watch_reason<E, H>();
  }
}

/// Uses no name in a bare run.
template <class E, class H>
inline constexpr bool is_nameless =
    std::is_same_v<requested_args<H, typename SessionArguments<E>::template Context<H>>, RunArgs<>>&&
        std::is_same_v<declared_fetches<H>, Fetches<>> &&
    !requires {
  typename H::plans;
};

/// The fault of hook H under executor E: its members, then its names.
template <class E, class H>
constexpr auto hook_reason() {
  using Members = typename Diagnosis<H, SessionArguments<E>>::reason;
  if constexpr (!std::is_same_v<Members, Ok>) {
    return Members{};
  } else if constexpr (StatesProbe<H> && !std::is_same_v<decltype(probe_reason<E, H>()), Ok>) {
    return probe_reason<E, H>();
  } else if constexpr (is_nameless<E, H>) {
    return Ok{};
  } else {
    return names_reason<E, H>();
  }
}

}  // namespace crochet::detail

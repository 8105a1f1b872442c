// SPDX-License-Identifier: Apache-2.0
// The type of the session object of an executor and a chain.
#pragma once

#include <type_traits>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/session/guarded_session.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/together.hpp>

namespace crochet::detail {

/// The guard that calls a hook on one rank, OnRank<R, H>: the hook itself or a decorator within it; void: none.
template <class H>
struct GuardOf {
  using type = void;
};
template <Decorates H>
struct GuardOf<H> : GuardOf<typename H::decorates> {};
template <Decorates H>
requires requires { typename decltype(H::policy)::rank_guard; }
struct GuardOf<H> {
  using type = typename decltype(H::policy)::rank_guard;
};

/// Adds the views of the guards of hooks to a session.
template <class Session, class... H>
struct WithGuards {
  using type = Session;
};
template <class Session, class H, class... Rest>
struct WithGuards<Session, H, Rest...> {
  using Guard = typename GuardOf<H>::type;
  static constexpr bool is_new = !std::is_void_v<Guard> && !Session::template has_guard<Guard>;
  using type = typename WithGuards<std::conditional_t<is_new, GuardedSession<Session, Guard>, Session>, Rest...>::type;
};

template <class E, class Chain>
struct SessionOf {
  using type = RawSession<E>;
};
template <HasRanks E, class... H>
requires(!(std::is_void_v<typename GuardOf<H>::type> && ...)) struct SessionOf<E, HookChain<H...>> {
  using type = PlacedSession<typename WithGuards<RawSession<E>, H...>::type>;
};
/// RawSession<E>; on several ranks, for a chain with guards, the PlacedSession.
template <class E, class Chain>
using session_of = typename SessionOf<E, Chain>::type;

}  // namespace crochet::detail

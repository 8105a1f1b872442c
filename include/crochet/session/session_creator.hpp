// SPDX-License-Identifier: Apache-2.0
// SessionCreator: what makes a new session ready to be run, the first time and after each failure.
#pragma once

#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

/// A creator has `create_session(RawSession<E>&, Coordinator&)`. It is given a session that nothing has run yet, and
/// leaves it ready: initialized, or restored, or waited for. It may run it. What it throws goes the way of any error: a
/// PreemptionError is tried again by a MonitoredSession, anything else leaves. Waits in it end when the coordinator
/// should stop.
template <class C, class E>
concept SessionCreator = requires(C& creator, RawSession<E>& session, Coordinator& coordinator) {
  creator.create_session(session, coordinator);
};

/// The creator of a session that names none: the executor is initialized, if it can be. A step function is not; after a
/// failure it is called again in the state in which the failure left it.
struct InitializeCreator {
  template <class E>
  void create_session(RawSession<E>& session, Coordinator& /*coordinator*/) {
    if constexpr (detail::Initializes<E>) session.executor().initialize();
  }
};

namespace detail {

template <class C, class E>
constexpr auto creator_reason() {
  if constexpr (is_unusable<E>) {
    return std::type_identity<error::none>{};  // another error is reported
  } else if constexpr (SessionCreator<C, E>) {
    return std::type_identity<error::none>{};
  } else {
    return std::type_identity<error::the_creator_cannot_create_a_session_of_this_executor<C, E>>{};
  }
}

}  // namespace detail

}  // namespace crochet

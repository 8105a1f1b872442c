// SPDX-License-Identifier: Apache-2.0
// SessionCreator: prepares a new session, the first time and after each failure.
#pragma once

#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

/// A creator has `create_session(RawSession<E>&, Coordinator&)`. It receives a session before its first run and
/// prepares it: by initialization, by restoring a checkpoint, or by waiting for another process. It may run the
/// session. A MonitoredSession retries after a PreemptionError from it; other exceptions propagate. Its waits end when
/// the coordinator should stop.
template <class C, class E>
concept SessionCreator = requires(C& creator, RawSession<E>& session, Coordinator& coordinator) {
  creator.create_session(session, coordinator);
};

/// The default creator: initializes the executor, if it has `initialize`. A step function is not reset; after a failure
/// it continues in the state that the failure left.
struct InitializeCreator {
  template <class E>
  void create_session(RawSession<E>& session, Coordinator& /*coordinator*/) {
    if constexpr (detail::Initializes<E>) session.executor().initialize();
  }
};

namespace detail {

template <class S>
inline constexpr bool is_scaffold = requires {
  S::has_saver;
};

template <class C, class E>
constexpr auto creator_reason() {
  if constexpr (is_unusable<E>) {
    return std::type_identity<error::none>{};  // another error is reported
  } else if constexpr (SessionCreator<C, E>) {
    return std::type_identity<error::none>{};
  } else if constexpr (is_scaffold<C>) {
    return std::type_identity<error::this_session_creator_is_a_scaffold<C>>{};
  } else {
    return std::type_identity<error::the_creator_cannot_create_a_session_of_this_executor<C, E>>{};
  }
}

}  // namespace detail

}  // namespace crochet

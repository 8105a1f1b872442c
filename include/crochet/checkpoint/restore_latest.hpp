// SPDX-License-Identifier: Apache-2.0
// RestoreLatest: a session goes on where the last program stopped.
#pragma once

#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/session_creator.hpp>

namespace crochet {

/// A session creator (session/session_creator.hpp): restores the newest checkpoint that is whole; if there is none,
/// does what the creator Otherwise does. Hooks' state is loaded with it: after `begin`, before `after_create_session`.
/// The same happens when a session is created anew after a failure.
template <class SaverType, class Otherwise = InitializeCreator>
struct RestoreLatest {
  SaverType saver;
  Otherwise otherwise{};

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    if (!saver.restore_latest(session)) otherwise.create_session(session, coordinator);
  }
};

}  // namespace crochet

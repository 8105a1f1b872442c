// SPDX-License-Identifier: Apache-2.0
// RestoreLatest: a session continues from the checkpoint of the previous program. MustRestore: a session uses the
// checkpoint of another program.
#pragma once

#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/session_creator.hpp>

namespace crochet {

/// A session creator (session/session_creator.hpp): restores the newest undamaged checkpoint; if there is none, calls
/// the creator Otherwise. Hooks' state is loaded with it: after `begin`, before `after_create_session`. It does the
/// same when a session is recreated after a failure.
template <class SaverType, class Otherwise = InitializeCreator>
struct RestoreLatest {
  SaverType saver;
  Otherwise otherwise{};

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    if (saver.restore_latest(session)) return;
    if constexpr (requires { saver.say_nothing_restored(); }) saver.say_nothing_restored();
    otherwise.create_session(session, coordinator);
  }
};

/// A session creator for programs that only read: restores the newest undamaged checkpoint, or throws. Changes no file.
template <class SaverType>
struct MustRestore {
  SaverType saver;

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& /*coordinator*/) {
    saver.must_restore(session);
  }
};

}  // namespace crochet

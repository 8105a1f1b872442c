// SPDX-License-Identifier: Apache-2.0
// The two creators of a job: the chief restores or initializes, workers wait until it has.
#pragma once

#include <utility>

#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/scaffold.hpp>
#include <crochet/session/session_manager.hpp>

namespace crochet {

/// Makes sessions that continue the latest checkpoint, if there is one, and are initialized if not; each time one is
/// created, so after a failure, too:
///   MonitoredSession session{executor, chain,
///                            ChiefSessionCreator{Scaffold{}.with_saver(&saver), {.checkpoint_dir = "run"}}};
/// Throws what SessionManager::prepare_session throws.
template <class S = Scaffold<>>
class ChiefSessionCreator {
 public:
  explicit ChiefSessionCreator(S scaffold = {}, RestoreOptions from = {}, WaitOptions waiting = {})
      : manager_(std::move(scaffold), waiting), from_(std::move(from)) {}

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    manager_.prepare_session(session, coordinator, from_);
  }

 private:
  SessionManager<S> manager_;
  RestoreOptions from_;
};

/// Makes sessions by waiting until the chief has initialized what they share, at most `max_wait_secs` seconds each
/// time. Throws what SessionManager::wait_for_session throws.
template <class S = Scaffold<>>
class WorkerSessionCreator {
 public:
  explicit WorkerSessionCreator(S scaffold = {}, double max_wait_secs = 1800, WaitOptions waiting = {})
      : manager_(std::move(scaffold), waiting), max_wait_secs_(max_wait_secs) {}

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    manager_.wait_for_session(session, coordinator, max_wait_secs_);
  }

 private:
  SessionManager<S> manager_;
  double max_wait_secs_;
};

}  // namespace crochet

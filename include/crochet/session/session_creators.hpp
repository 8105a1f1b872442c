// SPDX-License-Identifier: Apache-2.0
// The two creators of a job: the chief restores or initializes; workers wait for the chief.
#pragma once

#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/scaffold.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/session_manager.hpp>

namespace crochet {

namespace detail {

template <class S>
using scaffold_reason =
    std::conditional_t<is_scaffold<S>, error::none, error::the_first_argument_of_this_creator_is_no_scaffold<S>>;
/// The scaffold; an empty one for another type, which is an error.
template <class S>
auto scaffold_or_empty([[maybe_unused]] S given) {
  if constexpr (is_scaffold<S>) {
    return given;
  } else {
    return Scaffold<>{};
  }
}
template <class S>
using ScaffoldManager = SessionManager<decltype(scaffold_or_empty(std::declval<S>()))>;

}  // namespace detail

/// Makes sessions that continue the latest checkpoint if there is one, and initializes them otherwise. Used for every
/// creation, so after a failure too:
///   MonitoredSession session{executor, chain,
///                            ChiefSessionCreator{Scaffold{}.with_saver(&saver), {.checkpoint_dir = "run"}}};
/// Throws the exceptions of SessionManager::prepare_session.
template <class S = Scaffold<>>
class ChiefSessionCreator {
  static_assert(call_is_usable<detail::scaffold_reason<S>>, "crochet: crochet::error says why");

 public:
  explicit ChiefSessionCreator(S scaffold = {}, RestoreOptions from = {}, WaitOptions waiting = {})
      : manager_(detail::scaffold_or_empty(std::move(scaffold)), waiting), from_(std::move(from)) {}

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    manager_.prepare_session(session, coordinator, from_);
  }

 private:
  detail::ScaffoldManager<S> manager_;
  RestoreOptions from_;
};
// Options without a scaffold before them, also in braces, are the error above.
ChiefSessionCreator(RestoreOptions)->ChiefSessionCreator<RestoreOptions>;

/// Makes sessions by waiting until the chief has initialized the shared state, at most `max_wait_secs` seconds each
/// time. Throws the exceptions of SessionManager::wait_for_session.
template <class S = Scaffold<>>
class WorkerSessionCreator {
  static_assert(call_is_usable<detail::scaffold_reason<S>>, "crochet: crochet::error says why");

 public:
  explicit WorkerSessionCreator(S scaffold = {}, double max_wait_secs = 1800, WaitOptions waiting = {})
      : manager_(detail::scaffold_or_empty(std::move(scaffold)), waiting), max_wait_secs_(max_wait_secs) {}

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    manager_.wait_for_session(session, coordinator, max_wait_secs_);
  }

 private:
  detail::ScaffoldManager<S> manager_;
  double max_wait_secs_;
};

}  // namespace crochet

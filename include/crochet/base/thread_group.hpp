// SPDX-License-Identifier: Apache-2.0
// Interface between a coordinator and its threads. The implementation is in crochet/session/threads.hpp, so that
// programs without such threads do not include <thread>.
#pragma once

#include <string>

namespace crochet::detail {

/// The threads of one coordinator.
struct ThreadGroup {
  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  virtual ~ThreadGroup() = default;
  /// Sends the stop request to every thread. Any thread may call it.
  virtual void request_stop() = 0;
  /// Whether all threads have ended.
  virtual bool all_ended() = 0;
  /// Joins and removes the threads that have ended. Returns the names of the others; their stop request stays in
  /// effect.
  virtual std::string reap() = 0;
  /// Resets the stop request: threads started from now on run.
  virtual void renew() = 0;
};

}  // namespace crochet::detail

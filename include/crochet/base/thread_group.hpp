// SPDX-License-Identifier: Apache-2.0
// What a coordinator knows of its threads. crochet/session/threads.hpp has them, so that who starts none does not read
// <thread>.
#pragma once

#include <string>

namespace crochet::detail {

/// The threads of one coordinator.
struct ThreadGroup {
  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  virtual ~ThreadGroup() = default;
  /// Tells every thread; any thread may call it.
  virtual void request_stop() = 0;
  /// Whether all have ended.
  virtual bool all_ended() = 0;
  /// Joins and forgets those that have ended. Returns the names of the others, which go on stopping.
  virtual std::string reap() = 0;
  /// Threads that are started from now on are not stopped any more.
  virtual void renew() = 0;
};

}  // namespace crochet::detail

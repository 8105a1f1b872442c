// SPDX-License-Identifier: Apache-2.0
// The forks that this process comes from. A child of fork() has the memory of an object with threads, and of all
// threads only the one that called fork().
#pragma once
#include <pthread.h>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::detail {

/// The number of calls of fork() that lead from the process that first called count() to this one.
class Forks {
 public:
  /// Returns the number. The first call registers a handler of fork(). Any thread. Throws ResourceExhaustedError if the
  /// system has no memory for the handler.
  CROCHET_COLD static int count() {
    static const int code = ::pthread_atfork(nullptr, nullptr, [] { ++count_; });
    if (code != 0) throw ResourceExhaustedError("crochet: the system has no memory for a handler of fork(); free some");
    return count_;
  }
  /// The number, after a call of count(). It is one load; getpid() would be a system call.
  static int counted() { return count_; }

 private:
  static inline int count_ = 0;  ///< written in a new process only, while it has one thread
};

}  // namespace crochet::detail

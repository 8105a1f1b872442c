// SPDX-License-Identifier: Apache-2.0
// The forks that this process comes from. A child of fork() has the memory of an object with threads, and of all
// threads only the one that called fork().
#pragma once
#include <pthread.h>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::kernel {

/// The number of forks between this process and the first that called count(). A look at it costs a load, where
/// getpid() is a system call.
class Forks {
 public:
  /// Counts from here on. Any thread. Throws ResourceExhaustedError if the system has no memory for it.
  CROCHET_COLD static int count() {
    static const int code = ::pthread_atfork(nullptr, nullptr, [] { ++count_; });
    if (code != 0) throw ResourceExhaustedError("crochet: the system has no memory for a handler of fork(); free some");
    return count_;
  }
  static int counted() { return count_; }

 private:
  static inline int count_ = 0;  ///< written in a new process only, while it has one thread
};

}  // namespace crochet::kernel

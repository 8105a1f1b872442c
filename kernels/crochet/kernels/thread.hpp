// SPDX-License-Identifier: Apache-2.0
// A thread of the system. By pthreads: <thread> and <memory> bring <ostream>, and every program with a model would take
// the compiler a fifth of a second longer.
#pragma once
#include <pthread.h>

#include <exception>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>

namespace crochet::kernel {

/// Calls `run()` on a thread of its own. As std::thread: to be joined before it goes, and what `run` throws ends the
/// program. Throws ResourceExhaustedError if the system has no thread to give.
class Thread {
 public:
  template <class F>
  explicit Thread(F run) {
    auto* const mine = new F(run);
    if (const int code = pthread_create(&id_, nullptr, &start<F>, mine); code != 0) {
      delete mine;
      throw ResourceExhaustedError(crochet::detail::message(
          {"crochet: the system starts no further thread (error ", code, "); use fewer, see Cpu's threads"}));
    }
    runs_ = true;
  }
  Thread(Thread&& other) noexcept : id_(other.id_), runs_(other.runs_) { other.runs_ = false; }
  Thread& operator=(Thread&&) = delete;
  ~Thread() {
    if (runs_) std::terminate();
  }

  void join() {
    pthread_join(id_, nullptr);
    runs_ = false;
  }

 private:
  template <class F>
  static void* start(void* run) noexcept {
    F* const mine = static_cast<F*>(run);
    (*mine)();
    delete mine;
    return nullptr;
  }

  pthread_t id_{};
  bool runs_ = false;
};

}  // namespace crochet::kernel

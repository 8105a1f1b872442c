// SPDX-License-Identifier: Apache-2.0
// A thread, by pthreads: <thread> and <memory> include <ostream>, which would add a fifth of a second to the compile
// time of every program with a model.
#pragma once
#include <pthread.h>

#include <exception>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Calls `run()` on a new thread. As std::thread: it must be joined before destruction, and an exception from `run`
/// terminates the program. Throws ResourceExhaustedError if the system cannot create a thread.
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
  /// In a child of fork(), which does not have the thread: a join() would not end there.
  void forget() { runs_ = false; }

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

}  // namespace crochet::kernel::CROCHET_ISA

// SPDX-License-Identifier: Apache-2.0
// A thread that executes work in order, without a wait of the caller.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace crochet::trace {

/// Executes work in order in a thread of its own, which starts with the first work. Work must not throw. The destructor
/// completes the remaining work.
class Worker {
 public:
  using Work = std::function<void()>;

  /// At most `capacity` pieces of work wait in the queue; add() waits up to `seconds` for space.
  Worker(std::size_t capacity, double seconds) : capacity_(capacity), seconds_(seconds) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// False if there was no space in time; the work is then dropped. Throws std::system_error if the system cannot start
  /// the thread.
  bool add(Work work);
  /// Returns when all added work is done.
  void drain();

 private:
  void run();

  const std::size_t capacity_;
  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  bool closing_ = false, busy_ = false;
  std::thread thread_;
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/worker.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// A thread that executes work in order, without a wait of the caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

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
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// False if there was no space in time; the work is then dropped.
  bool add(Work work) {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    const auto room = [this] { return queue_.size() < capacity_; };
    if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds_), room)) return false;
    queue_.push_back(std::move(work));
    changed_.notify_all();
    return true;
  }
  /// Returns when all added work is done.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Work work = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      work();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  const std::size_t capacity_;
  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  bool closing_ = false, busy_ = false;
  std::thread thread_;
};

}  // namespace crochet::trace

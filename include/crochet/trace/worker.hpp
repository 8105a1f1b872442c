// SPDX-License-Identifier: Apache-2.0
// A thread that does work in order, so that whoever has it need not wait.
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

/// Does what it is given, one after the other, in a thread of its own, which begins with the first. Work must not
/// throw. What is left when it goes is done first.
class Worker {
 public:
  using Work = std::function<void()>;

  /// At most `capacity` pieces of work wait; one that finds no room waits for it, `seconds` at most.
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

  /// False if there was no room in time; the work is then not done.
  bool add(Work work) {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    const auto room = [this] { return queue_.size() < capacity_; };
    if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds_), room)) return false;
    queue_.push_back(std::move(work));
    changed_.notify_all();
    return true;
  }
  /// Returns when all that was added is done.
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

// SPDX-License-Identifier: Apache-2.0
// EventQueue: the thread that writes events, and the bounded queue before it.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/io/event_log.hpp>

namespace crochet::io::detail {

/// To wait for. Longer than 30 years is for ever: the clock's integers end at 292, and infinity would be no time at
/// all.
inline std::chrono::duration<double> time_to_wait(double seconds) {
  return std::chrono::duration<double>(std::min(std::max(0.0, seconds), 1e9));
}

/// Work for an EventLog, done in order by one thread. Any thread may add.
class EventQueue {
 public:
  using Work = std::function<void(EventLog&)>;

  /// At most `capacity` pieces of work wait or are being done. One that finds no room waits `wait_seconds` for it.
  EventQueue(EventLog log, std::size_t capacity, double wait_seconds)
      : log_(std::move(log)), capacity_(capacity), wait_(wait_seconds), path_(log_.path()), thread_([this] {
          work();
        }) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { close(); }

  /// False if there was no room in time: the work is dropped, which is said once. Throws what failed earlier in the
  /// thread, once.
  bool add(Work work) {
    std::unique_lock lock(mutex_);
    rethrow(lock);
    if (closing_ || !wait_for_room(lock)) {
      ++dropped_;
      return false;
    }
    queue_.push_back(std::move(work));
    ++added_;
    wake_if_asleep(lock);
    return true;
  }
  /// Returns when all that was added before is on the disk, or has failed. Throws as add does.
  void flush() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = ++flushes_wanted_;
    flush_after_ = added_;
    wake_.notify_one();
    done_.wait(lock, [&] { return flushes_done_ >= mine || finished_; });
    rethrow(lock);
  }
  /// Does what is left, flushes, and ends the thread. Nothing can be added afterwards.
  void close() noexcept {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] std::filesystem::path path() const {
    const std::lock_guard lock(mutex_);
    return path_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }
  /// What failed in the thread and nobody has been told; null if nothing.
  [[nodiscard]] std::exception_ptr take_failure() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void rethrow(Lock& lock) {
    if (!failure_) return;
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    lock.unlock();
    std::rethrow_exception(failure);
  }
  bool wait_for_room(Lock& lock) {
    const auto room = [this] { return queue_.size() + busy_ < capacity_ || finished_; };
    if (room()) return !finished_;
    return room_.wait_for(lock, time_to_wait(wait_), room) && !finished_;
  }
  void wake_if_asleep(Lock& lock) {
    const bool asleep = std::exchange(asleep_, false);
    lock.unlock();
    if (asleep) wake_.notify_one();
  }

  // ---- the thread
  void work() {
    Lock lock(mutex_);
    while (!closing_ || !queue_.empty()) {
      if (flushes_done_ < flushes_wanted_ && worked_ >= flush_after_) {
        flush_now(lock);
      } else if (!queue_.empty()) {
        do_next(lock);
      } else {
        idle(lock);
      }
    }
    flush_now(lock);
    finished_ = true;
    done_.notify_all();
    room_.notify_all();
  }
  /// Does `act` without the lock. What it throws is kept for the next caller.
  template <class F>
  void unlocked(Lock& lock, F act) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      act();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
  }
  void do_next(Lock& lock) {
    const Work next = std::move(queue_.front());
    queue_.pop_front();
    busy_ = 1;
    unlocked(lock, [&] {
      next(log_);
      log_.flush_if_due();
    });
    busy_ = 0;
    ++worked_;
    path_ = log_.path();
    room_.notify_one();
  }
  void flush_now(Lock& lock) {
    const std::uint64_t mine = flushes_wanted_;
    unlocked(lock, [&] {
      report_drops();
      log_.flush();
    });
    path_ = log_.path();
    flushes_done_ = mine;
    done_.notify_all();
  }
  /// Nothing to do: readers get to see what there is, then sleep until there is more, or it is time to flush.
  void idle(Lock& lock) {
    unlocked(lock, [&] {
      log_.write();
      log_.flush_if_due();
    });
    if (!queue_.empty() || closing_ || flushes_done_ < flushes_wanted_) return;
    asleep_ = true;
    wake_.wait_for(lock, time_to_wait(log_.seconds_to_flush()),
                   [this] { return !queue_.empty() || closing_ || flushes_done_ < flushes_wanted_; });
    asleep_ = false;
  }
  void report_drops() {
    std::uint64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      dropped = dropped_ - std::exchange(reported_, dropped_);
    }
    if (dropped > 0) {
      log_.report("crochet: " + std::to_string(dropped) +
                  " events were dropped: the queue of their writer was full for too long");
    }
  }

  EventLog log_;
  const std::size_t capacity_;
  const double wait_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, room_, done_;
  std::deque<Work> queue_;
  std::filesystem::path path_;
  std::exception_ptr failure_;
  std::uint64_t added_ = 0, worked_ = 0, flush_after_ = 0;  // pieces of work
  std::uint64_t flushes_wanted_ = 0, flushes_done_ = 0, dropped_ = 0, reported_ = 0;
  std::size_t busy_ = 0;
  bool closing_ = false, finished_ = false, asleep_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace crochet::io::detail

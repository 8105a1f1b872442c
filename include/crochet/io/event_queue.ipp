// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_queue.hpp.
#pragma once

#include <crochet/io/event_queue.hpp>

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

/// A duration to wait for, at most 1e9 s (over 30 years): the clock's integers overflow after 292 years, and infinity
/// would not wait at all.
CROCHET_INLINE std::chrono::duration<double> time_to_wait(double seconds) {
  return std::chrono::duration<double>(std::min(std::max(0.0, seconds), 1e9));
}

CROCHET_INLINE bool EventQueue::add(Work work) {
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

CROCHET_INLINE void EventQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++flushes_wanted_;
  flush_after_ = added_;
  wake_.notify_one();
  done_.wait(lock, [&] { return flushes_done_ >= mine || finished_; });
  rethrow(lock);
}

CROCHET_INLINE void EventQueue::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

CROCHET_INLINE std::filesystem::path EventQueue::path() const {
  const std::lock_guard lock(mutex_);
  return path_;
}

CROCHET_INLINE std::uint64_t EventQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

CROCHET_INLINE std::exception_ptr EventQueue::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, nullptr);
}

CROCHET_INLINE void EventQueue::rethrow(Lock& lock) {
  if (!failure_) return;
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  lock.unlock();
  std::rethrow_exception(failure);
}

CROCHET_INLINE bool EventQueue::wait_for_room(Lock& lock) {
  const auto room = [this] { return queue_.size() + busy_ < capacity_ || finished_; };
  if (room()) return !finished_;
  return room_.wait_for(lock, time_to_wait(wait_), room) && !finished_;
}

CROCHET_INLINE void EventQueue::wake_if_asleep(Lock& lock) {
  const bool asleep = std::exchange(asleep_, false);
  lock.unlock();
  if (asleep) wake_.notify_one();
}

CROCHET_INLINE void EventQueue::work() {
  Lock lock(mutex_);
  do {  // an add that waited for room may have found it before the last flush
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
  } while (!queue_.empty());
  finished_ = true;
  done_.notify_all();
  room_.notify_all();
}

CROCHET_INLINE void EventQueue::do_next(Lock& lock) {
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

CROCHET_INLINE void EventQueue::flush_now(Lock& lock) {
  const std::uint64_t mine = flushes_wanted_;
  unlocked(lock, [&] {
    report_drops();
    log_.flush();
  });
  path_ = log_.path();
  flushes_done_ = mine;
  done_.notify_all();
}

CROCHET_INLINE void EventQueue::idle(Lock& lock) {
  unlocked(lock, [&] {
    log_.write();
    log_.flush_if_due();
  });
  if (!queue_.empty() || closing_ || flushes_done_ < flushes_wanted_) return;
  asleep_ = true;
  constexpr double least_seconds = 0.1;  // with flush_seconds = 0, too
  wake_.wait_for(lock, time_to_wait(std::max(least_seconds, log_.seconds_to_flush())),
                 [this] { return !queue_.empty() || closing_ || flushes_done_ < flushes_wanted_; });
  asleep_ = false;
}

CROCHET_INLINE void EventQueue::report_drops() {
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

}  // namespace crochet::io::detail

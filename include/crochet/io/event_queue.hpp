// SPDX-License-Identifier: Apache-2.0
// EventQueue: the thread that writes events, and its bounded queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <crochet/base/started_thread.hpp>
#include <crochet/io/event_log.hpp>

namespace crochet::io::detail {

/// Work for an EventLog, executed in order by one thread. Any thread may add work.
class EventQueue {
 public:
  using Work = std::function<void(EventLog&)>;

  /// Throws ResourceExhaustedError if the system cannot start the thread. At most `capacity` pieces of work are queued
  /// or in progress. If the queue is full, add() waits up to `wait_seconds`.
  EventQueue(EventLog log, std::size_t capacity, double wait_seconds)
      : log_(std::move(log)), capacity_(capacity), wait_(wait_seconds), path_(log_.path()), thread_(started()) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { close(); }

  /// Returns false if the queue stayed full or is closed: the work is dropped and counted; the drops are reported at
  /// the next flush. Rethrows, once, an error of the thread.
  bool add(Work work);
  /// Returns when all work added before is on the disk or has failed. Throws like add().
  void flush();
  /// Finishes the queued work, flushes and ends the thread. Nothing can be added afterwards.
  void close() noexcept;

  [[nodiscard]] std::filesystem::path path() const;
  [[nodiscard]] std::uint64_t dropped() const;
  /// The error of the thread that has not been rethrown yet; null if there is none.
  [[nodiscard]] std::exception_ptr take_failure();

 private:
  std::thread started() {
    return crochet::detail::started_thread<std::thread>("the events of " + path_.string(), [this] { work(); });
  }

  using Lock = std::unique_lock<std::mutex>;

  void rethrow(Lock& lock);
  bool wait_for_room(Lock& lock);
  void wake_if_asleep(Lock& lock);

  // ---- the thread
  void work();
  /// Calls `act` without the lock. Keeps its exception for the next caller.
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
  void do_next(Lock& lock);
  void flush_now(Lock& lock);
  /// For an empty queue: writes the buffer, so that readers see it, then sleeps until there is work or a flush is due.
  void idle(Lock& lock);
  void report_drops();

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
  std::thread thread_;  // last: it uses all members above
};

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_queue.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// StreamDeadlines: cancels idle streams.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <crochet/base/clock.hpp>

namespace crochet::debug {

/// The open streams, with the time of the last event of each. Thread-safe.
class StreamDeadlines {
 public:
  using Id = std::uint64_t;

  /// `clock`: seconds since a fixed point in time.
  explicit StreamDeadlines(double idle_seconds, Clock clock) : idle_(idle_seconds), clock_(std::move(clock)) {}

  /// `cancel` is called at most once, by `check`, and not after `close`.
  Id open(std::function<void()> cancel) {
    const std::lock_guard lock(mutex_);
    streams_.emplace(++last_, Stream{std::move(cancel), clock_(), false, false});
    return last_;
  }
  void heard(Id id) {
    const std::lock_guard lock(mutex_);
    streams_.at(id).heard = clock_();
  }
  /// Suspends the time limit of a stream while it is held at a breakpoint.
  void hold(Id id, bool held) {
    const std::lock_guard lock(mutex_);
    streams_.at(id).held = held;
    streams_.at(id).heard = clock_();
  }
  /// Returns whether the stream was cancelled.
  bool close(Id id) {
    const std::lock_guard lock(mutex_);
    const auto node = streams_.extract(id);
    return !node.empty() && node.mapped().cancelled;
  }

  /// Cancels the streams that are idle for too long. Returns their number.
  std::size_t check() {
    const std::lock_guard lock(mutex_);
    std::size_t late = 0;
    for (auto& [id, stream] : streams_) {
      if (stream.held || stream.cancelled || clock_() - stream.heard <= idle_) continue;
      stream.cancelled = true;
      stream.cancel();
      ++late;
    }
    return late;
  }

 private:
  struct Stream {
    std::function<void()> cancel;
    double heard;
    bool held, cancelled;
  };
  double idle_;
  Clock clock_;
  std::mutex mutex_;
  std::map<Id, Stream> streams_;
  Id last_ = 0;
};

/// Calls a function periodically on its own thread, until destruction.
class Repeat {
 public:
  Repeat(double seconds, std::function<void()> act)
      : thread_([this, seconds, act = std::move(act)] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; })) act();
        }) {}
  Repeat(const Repeat&) = delete;
  Repeat& operator=(const Repeat&) = delete;
  ~Repeat() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace crochet::debug

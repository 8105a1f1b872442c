// SPDX-License-Identifier: Apache-2.0
// StreamDeadlines: ends streams on which nothing comes for too long.
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

namespace crochet::debug {

/// The streams that are open, and when something was heard of each. For several threads.
class StreamDeadlines {
 public:
  using ClockFunction = std::function<double()>;
  using Id = std::uint64_t;

  /// `clock`: seconds since some fixed moment.
  explicit StreamDeadlines(double idle_seconds, ClockFunction clock) : idle_(idle_seconds), clock_(std::move(clock)) {}

  /// `cancel` is called at most once, from `check`, unless the stream is gone by then.
  Id open(std::function<void()> cancel) {
    const std::lock_guard lock(mutex_);
    streams_.emplace(++last_, Stream{std::move(cancel), clock_(), false, false});
    return last_;
  }
  void heard(Id id) {
    const std::lock_guard lock(mutex_);
    streams_.at(id).heard = clock_();
  }
  /// A stream that is held waits for us and not for its sender: its time stands still.
  void hold(Id id, bool held) {
    const std::lock_guard lock(mutex_);
    streams_.at(id).held = held;
    streams_.at(id).heard = clock_();
  }
  /// True if it was cancelled.
  bool close(Id id) {
    const std::lock_guard lock(mutex_);
    const auto node = streams_.extract(id);
    return !node.empty() && node.mapped().cancelled;
  }

  /// Cancels the streams of which nothing was heard for too long. Returns how many those are.
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
  ClockFunction clock_;
  std::mutex mutex_;
  std::map<Id, Stream> streams_;
  Id last_ = 0;
};

/// Does something again and again, on a thread of its own, until it is destroyed.
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
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace crochet::debug

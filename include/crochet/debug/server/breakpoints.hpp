// SPDX-License-Identifier: Apache-2.0
// Breakpoints: blocks streams until they are released.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace crochet::debug {

/// The streams that are held at breakpoints. Thread-safe.
class Breakpoints {
 public:
  /// Holds one stream from construction on. Construct it before the breakpoint is announced, so that a `go_on` before
  /// `wait` is not lost.
  class Hold {
   public:
    explicit Hold(Breakpoints& all) : all_(all) {
      const std::lock_guard lock(all_.mutex_);
      released_ = all_.released_;
      ++all_.held_;
    }
    ~Hold() {
      const std::lock_guard lock(all_.mutex_);
      --all_.held_;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// Blocks until `go_on`, `stop`, or `gone()` returns true, which is polled ten times a second; at most `seconds`.
    /// False if the time limit has passed.
    bool wait(double seconds, const std::function<bool()>& gone) {
      std::unique_lock lock(all_.mutex_);
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
      while (!all_.stopped_ && all_.released_ == released_ && !gone()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        all_.wake_.wait_for(lock, std::chrono::milliseconds(100));
      }
      return true;
    }

   private:
    Breakpoints& all_;
    std::uint64_t released_;
  };

  /// Releases all streams held now. Returns their number.
  std::size_t go_on() {
    const std::lock_guard lock(mutex_);
    ++released_;
    wake_.notify_all();
    return held_;
  }
  /// Releases all streams, and holds none in future.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
  }
  [[nodiscard]] std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t released_ = 0;
  std::size_t held_ = 0;
  bool stopped_ = false;
};

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// Breakpoints: streams that are held until somebody says that they may go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace crochet::debug {

/// For several threads.
class Breakpoints {
 public:
  /// Holds the caller until `go_on`, `stop`, or that `gone()` is true, which is asked ten times a second; at most
  /// `seconds`. 0: not at all. False if the time has run out.
  bool hold(double seconds, const std::function<bool()>& gone) {
    if (seconds <= 0) return true;
    std::unique_lock lock(mutex_);
    const std::uint64_t now = released_;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    ++held_;
    bool in_time = true;
    while (!stopped_ && released_ == now && !gone() && in_time) {
      wake_.wait_for(lock, std::chrono::milliseconds(100));
      in_time = std::chrono::steady_clock::now() < end;
    }
    --held_;
    return in_time;
  }

  /// All that are held now go on. Returns how many those are.
  std::size_t go_on() {
    const std::lock_guard lock(mutex_);
    ++released_;
    wake_.notify_all();
    return held_;
  }
  /// Nothing is held any more, now and later.
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

// SPDX-License-Identifier: Apache-2.0
// WaitLimits: how long a rank waits for others. WaitJudge: when a limit is exceeded.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace crochet {

/// How long a rank waits for the others. Both limits count from the beginning of a call, in seconds; 0 means never.
struct WaitLimits {
  double warn_after_secs = 60;  ///< then one line on stderr names the rank and the call
  double abort_after_secs = 0;  ///< then the process exits with code 1, upon which MPI's launchers end the job
};

namespace detail {

/// The call in which a thread is. Another thread may read it. begin() and end() are two stores.
class CurrentCall {
 public:
  void begin(const char* name) noexcept {
    name_.store(name, std::memory_order_relaxed);
    advance();
  }
  void end() noexcept { advance(); }

  /// Odd inside a call.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }
  [[nodiscard]] const char* name() const noexcept { return name_.load(std::memory_order_relaxed); }

 private:
  void advance() noexcept { number_.store(number_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  std::atomic<std::uint64_t> number_ = 0;
  std::atomic<const char*> name_ = "";
};

/// Decides what to do about the current call, from its number and the time at some moments.
class WaitJudge {
 public:
  enum class Verdict : unsigned char { nothing, warn, abort };

  explicit WaitJudge(const WaitLimits& limits) : limits_(limits) {}

  /// `now`: seconds of any steady clock. Warns once for a call.
  [[nodiscard]] Verdict judge(std::uint64_t number, double now) {
    if (number != number_) number_ = number, since_ = now, warned_ = false;
    if (number % 2 == 0) return Verdict::nothing;
    const double waited = now - since_;
    if (limits_.abort_after_secs > 0 && waited >= limits_.abort_after_secs) return Verdict::abort;
    if (warned_ || limits_.warn_after_secs <= 0 || waited < limits_.warn_after_secs) return Verdict::nothing;
    warned_ = true;
    return Verdict::warn;
  }
  /// The time between two moments: a quarter of the shorter limit, from 10 ms to 1 s.
  [[nodiscard]] double period() const {
    double shorter = 4;
    for (const double limit : {limits_.warn_after_secs, limits_.abort_after_secs}) {
      if (limit > 0) shorter = std::min(shorter, limit);
    }
    return std::max(shorter / 4, 0.01);
  }
  [[nodiscard]] const WaitLimits& limits() const { return limits_; }

 private:
  WaitLimits limits_;
  std::uint64_t number_ = 0;
  double since_ = 0;
  bool warned_ = false;
};

}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// SleepClock: the clock and the sleep of sessions. Everything in session/ that waits takes one, so that a test can
// simulate hours of waiting without delay.
#pragma once

#include <ctime>

#include <crochet/base/config.hpp>

namespace crochet {

namespace detail {

/// Seconds of a clock that never goes backwards, and a sleep of at most `seconds`; a signal may end the sleep early.
CROCHET_COLD inline double steady_now(void*) {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
CROCHET_COLD inline void steady_sleep(void*, double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  const std::timespec length{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  nanosleep(&length, nullptr);
}

}  // namespace detail

/// Returns the seconds since a fixed moment, and sleeps.
/// - `SleepClock{}` is the machine's steady clock.
/// - Alternatively any object with `double operator()()` and `void sleep(double seconds)`; tests use a
///   testing::ManualClock. The object is borrowed and must outlive every user of the SleepClock.
/// - Thread-safe if that object is.
class SleepClock {
 public:
  SleepClock() = default;
  template <class C>
  requires requires(C& clock) {
    {clock() + 0.0};
    clock.sleep(1.0);
  }
  SleepClock(C& clock)  // NOLINT(google-explicit-constructor): `.clock = manual`
      : now_([](void* self) -> double { return (*static_cast<C*>(self))(); }),
        sleep_([](void* self, double seconds) { static_cast<C*>(self)->sleep(seconds); }),
        self_(&clock),
        slice_(1e30) {}

  [[nodiscard]] double now() const { return now_(self_); }

  /// Sleeps for `seconds` or until `over()` is true. Calls `over()` first, and with the steady clock at least ten times
  /// a second. Returns true if it slept for the whole time.
  template <class Over>
  bool sleep(double seconds, Over&& over) const {
    const double end = now() + seconds;
    double left = seconds;
    while (left > 0) {
      if (over()) return false;
      sleep_(self_, left < slice_ ? left : slice_);
      left = end - now();
    }
    return !over();
  }

 private:
  double (*now_)(void*) = &detail::steady_now;
  void (*sleep_)(void*, double) = &detail::steady_sleep;
  void* self_ = nullptr;
  double slice_ = 0.1;
};

}  // namespace crochet

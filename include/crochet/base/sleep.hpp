// SPDX-License-Identifier: Apache-2.0
// Sleep: how hooks wait. Suspends the thread by default.
#pragma once

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <ctime>
#include <functional>
#include <type_traits>
#include <utility>

namespace crochet {

/// Waits a number of seconds. `Sleep{}` suspends the calling thread. Alternatively any copyable callable that takes
/// seconds; tests use one that advances a testing::ManualClock.
class Sleep {
 public:
  Sleep() = default;
  template <class F>
  requires(!std::same_as<F, Sleep> && std::is_invocable_v<const F&, double>) Sleep(F sleep)
      : other_(std::move(sleep)) {}  // NOLINT(google-explicit-constructor): `.sleep = my_sleep`

  void operator()(double seconds) const {
    if (other_) return other_(seconds);
    const auto whole = static_cast<std::time_t>(seconds);
    std::timespec left{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {  // a signal was handled
    }
  }

 private:
  std::function<void(double)> other_;
};

/// Sleeps for `seconds` in slices of at most half a second. Calls `stop()` before each slice and returns early once it
/// is true. Returns whether it was stopped.
template <class Stop>
bool sleep_unless(const Stop& stop, double seconds, const Sleep& sleep) {
  constexpr double nap = 0.5;
  for (double left = seconds; left > 0; left -= nap) {
    if (stop()) return true;
    sleep(std::min(left, nap));
  }
  return stop();
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The clocks of the machine, and Clock: the time source of hooks, which is the steady clock by default.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace crochet {

/// Seconds since a fixed moment, on the steady clock; never goes backwards. About 25 ns.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Seconds since 1970, UTC, on the system's clock, which can jump.
inline double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
/// The same in microseconds.
inline std::int64_t microseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// Returns the seconds since a fixed moment; never goes backwards.
/// - `Clock{}` is the machine's steady clock (TensorFlow uses the wall clock, which can jump).
/// - Alternatively any copyable callable that returns seconds; tests use a testing::ManualClock.
/// - Cost of a reading: that of the steady clock, about 25 ns, and one branch; another clock is called through a
///   std::function.
class Clock {
 public:
  Clock() = default;
  template <class F>
  requires(!std::same_as<F, Clock> && std::is_invocable_r_v<double, F&>) Clock(F clock)
      : other_(std::move(clock)) {}  // NOLINT(google-explicit-constructor): `.clock = my_clock`

  [[nodiscard]] double operator()() const { return other_ ? other_() : steady_seconds(); }

 private:
  std::function<double()> other_;
};

}  // namespace crochet

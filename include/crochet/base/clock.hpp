// SPDX-License-Identifier: Apache-2.0
// Clock: the time source of hooks. The steady clock by default.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace crochet {

/// Returns the seconds since a fixed moment; never goes backwards.
/// - `Clock{}` is the machine's steady clock (TensorFlow uses the wall clock, which can jump).
/// - Alternatively any copyable callable that returns seconds; tests use a testing::ManualClock.
/// - Cost of a reading: that of the steady clock, about 25 ns, and one branch; another clock is called through a
///   std::function.
class Clock {
 public:
  Clock() = default;
  template <class F>
  requires(!std::same_as<F, Clock> && std::is_invocable_r_v<double, const F&>) Clock(F clock)
      : other_(std::move(clock)) {}  // NOLINT(google-explicit-constructor): `.clock = my_clock`

  [[nodiscard]] double operator()() const { return other_ ? other_() : steady(); }

 private:
  static double steady() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  std::function<double()> other_;
};

}  // namespace crochet

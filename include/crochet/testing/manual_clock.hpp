// SPDX-License-Identifier: Apache-2.0
// A clock that advances only when the test sets it. No test sleeps.
#pragma once

#include <memory>

namespace crochet::testing {

/// A clock is a copyable callable that returns seconds since a fixed moment. Copies of a ManualClock share one clock,
/// so a test can keep one and give one to the hook.
class ManualClock {
 public:
  explicit ManualClock(double seconds = 0) : seconds_(std::make_shared<double>(seconds)) {}

  [[nodiscard]] double operator()() const { return *seconds_; }
  void advance(double seconds) { *seconds_ += seconds; }
  /// Advances the clock by `seconds` at once, without a wait.
  void sleep(double seconds) { advance(seconds); }
  void set(double seconds) { *seconds_ = seconds; }

 private:
  std::shared_ptr<double> seconds_;
};

}  // namespace crochet::testing

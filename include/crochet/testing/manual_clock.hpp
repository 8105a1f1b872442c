// SPDX-License-Identifier: Apache-2.0
// A clock that stands still until the test moves it. No test sleeps.
#pragma once

#include <memory>

namespace crochet::testing {

/// A clock is a copyable callable that returns seconds since some fixed moment. Copies of a ManualClock are the same
/// clock, so a test can keep one and give one to the hook.
class ManualClock {
 public:
  explicit ManualClock(double seconds = 0) : seconds_(std::make_shared<double>(seconds)) {}

  [[nodiscard]] double operator()() const { return *seconds_; }
  void advance(double seconds) { *seconds_ += seconds; }
  /// Whoever waits on this clock waits no time: it is that much later at once.
  void sleep(double seconds) { advance(seconds); }
  void set(double seconds) { *seconds_ = seconds; }

 private:
  std::shared_ptr<double> seconds_;
};

}  // namespace crochet::testing

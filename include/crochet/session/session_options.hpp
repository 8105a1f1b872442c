// SPDX-License-Identifier: Apache-2.0
// SessionOptions: time limits and clock of a session.
#pragma once

#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/recoverable.hpp>

namespace crochet {

/// Options for waits and recovery.
struct SessionOptions {
  /// The maximum time, in seconds, that close() and recovery wait for stopping threads.
  double stop_grace_period_secs = 120;
  RecoveryOptions recovery{};
  /// For all waits of the session; in tests a testing::ManualClock.
  SleepClock clock{};
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// SessionOptions: the numbers of a session.
#pragma once

#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/recoverable.hpp>

namespace crochet {

/// How a session waits and recovers.
struct SessionOptions {
  /// How long close() and recovery wait for threads that were told to stop, in seconds.
  double stop_grace_period_secs = 120;
  RecoveryOptions recovery{};
  /// For all waits of the session; in tests a testing::ManualClock.
  SleepClock clock{};
};

}  // namespace crochet

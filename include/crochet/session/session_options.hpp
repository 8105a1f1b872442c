// SPDX-License-Identifier: Apache-2.0
// SessionOptions: time limits, clock and data of a session.
#pragma once

#include <crochet/base/sleep_clock.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/session/recoverable.hpp>

namespace crochet {

/// Options for waits, recovery and epochs.
struct SessionOptions {
  /// The maximum time, in seconds, that close() and recovery wait for stopping threads.
  double stop_grace_period_secs = 120;
  RecoveryOptions recovery{};
  /// For all waits of the session; in tests a testing::ManualClock.
  SleepClock clock{};
  /// The data whose epochs the session counts, `EpochSource{batches}`; unset: those of a CheckpointInputPipeline in the
  /// chain.
  EpochSource epochs{};
};

}  // namespace crochet

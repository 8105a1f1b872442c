// SPDX-License-Identifier: Apache-2.0
// The outermost layer of a session: after which errors, how often and after what pause it is created anew.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/coordinator.hpp>

namespace crochet {

/// Bounds of recovery. The original tries again forever and at once; with the defaults here it is given up after about
/// 80 seconds in which nothing worked.
struct RecoveryOptions {
  /// How many failures in a row are recovered from. In a row: without the global step having come further than ever
  /// before. 0: none.
  int max_attempts = 10;
  /// The pause before the first attempt, in seconds; each further one is `multiplier` times as long, but at most
  /// `max_backoff_secs`.
  double initial_backoff_secs = 0.1;
  double multiplier = 2;
  double max_backoff_secs = 30;
  /// No attempt begins later than this many seconds after the first failure of a row.
  double deadline_secs = 1e30;
};

/// Recovers from every PreemptionError (AbortedError, UnavailableError), within the bounds.
class Recoverable {
 public:
  static constexpr bool recovers = true;

  Recoverable(const RecoveryOptions& options, SleepClock clock) : options_(options), clock_(clock) {}

  /// To be called before each new attempt with the error and the step at which it came. Returns after the pause, which
  /// a request to stop cuts short: what is to be saved at the end needs a session. Throws the error at the bounds.
  CROCHET_COLD void pause(const std::exception_ptr& error, std::int64_t step, const Coordinator& coordinator) {
    note_progress(step);
    if (++failures_ > options_.max_attempts || begins_after() > options_.deadline_secs) give_up(error);
    diagnose(detail::message({"crochet: the session was lost at step ", step, " and is created anew (attempt ",
                              failures_, " of ", options_.max_attempts, "): ", detail::what_of(error)}));
    clock_.sleep(backoff(), [&] { return coordinator.should_stop(); });
    ++recoveries_;
  }

  /// How often the session was created anew.
  [[nodiscard]] int recoveries() const { return recoveries_; }

 private:
  void note_progress(std::int64_t step) {
    if (failures_ == 0 || step > furthest_) {
      failures_ = 0;
      furthest_ = step;
      since_ = clock_.now();
    }
  }
  [[nodiscard]] double backoff() const {
    double pause = options_.initial_backoff_secs;
    for (int i = 1; i < failures_ && pause < options_.max_backoff_secs; ++i) pause *= options_.multiplier;
    return pause < options_.max_backoff_secs ? pause : options_.max_backoff_secs;
  }
  /// Seconds from the first failure to the end of the coming pause.
  [[nodiscard]] double begins_after() const { return clock_.now() + backoff() - since_; }
  [[noreturn]] CROCHET_COLD void give_up(const std::exception_ptr& error) const {
    diagnose(detail::message({"crochet: the session was lost and is given up after ", failures_ - 1,
                              " attempts: ", detail::what_of(error)}));
    std::rethrow_exception(error);
  }

  RecoveryOptions options_;
  SleepClock clock_;
  int failures_ = 0;
  int recoveries_ = 0;
  std::int64_t furthest_ = 0;
  double since_ = 0;
};

/// Recovers from nothing: every error is the caller's.
class Singular {
 public:
  static constexpr bool recovers = false;

  Singular(const RecoveryOptions& /*options*/, SleepClock /*clock*/) {}
  [[noreturn]] CROCHET_COLD void pause(const std::exception_ptr& error, std::int64_t /*step*/, const Coordinator&) {
    std::rethrow_exception(error);
  }
  [[nodiscard]] int recoveries() const { return 0; }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The outermost layer of a session: the errors after which it is recreated, the number of attempts and the pauses.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/coordinator.hpp>

namespace crochet {

/// Bounds of recovery. TensorFlow retries forever and without a pause. With these defaults recovery gives up after
/// about 80 seconds without progress.
struct RecoveryOptions {
  /// The maximum number of consecutive failures that are recovered from. Consecutive: no run has succeeded in between,
  /// or the global step has not exceeded its previous maximum. 0: no recovery.
  int max_attempts = 10;
  /// The pause before the first attempt, in seconds. Each further pause is `multiplier` times as long, but at most
  /// `max_backoff_secs`.
  double initial_backoff_secs = 0.1;
  double multiplier = 2;
  double max_backoff_secs = 30;
  /// No attempt begins later than this many seconds after the first of consecutive failures.
  double deadline_secs = 1e30;
};

/// Recovers from every PreemptionError (AbortedError, UnavailableError), within the bounds.
class Recoverable {
 public:
  static constexpr bool recovers = true;

  /// Throws LogicError for an option that is negative or NaN.
  Recoverable(const RecoveryOptions& options, SleepClock clock) : options_(options), clock_(clock) { check(); }

  /// Call before each new attempt, with the error and the step at which it occurred. Returns after the pause; a stop
  /// request ends the pause early, because saving at the end needs a session. Throws the error if a bound is reached.
  /// ran: whether a run has succeeded since the last failure; the step alone does not show it, since an executor counts
  /// a run before a hook fails in it. line: the beginning of the line that reports this; empty: none is written.
  CROCHET_COLD void pause(const std::exception_ptr& error, std::int64_t step, bool ran, const Coordinator& coordinator,
                          const std::string& line) {
    note_progress(step, ran);
    if (++failures_ > options_.max_attempts || begins_after() > options_.deadline_secs) give_up(error, line);
    if (!line.empty()) {
      diagnose(detail::message({line, "the session was lost at step ", step, " and is created anew (attempt ",
                                failures_, " of ", options_.max_attempts, "): ", detail::what_of(error)}));
    }
    clock_.sleep(backoff(), [&] { return coordinator.should_stop(); });
    ++recoveries_;
  }

  /// How often the session was recreated.
  [[nodiscard]] int recoveries() const { return recoveries_; }

 private:
  void check() const {
    const RecoveryOptions& o = options_;
    if (o.max_attempts >= 0 && o.initial_backoff_secs >= 0 && o.multiplier >= 0 && o.max_backoff_secs >= 0 &&
        o.deadline_secs >= 0) {
      return;
    }
    throw LogicError("crochet: RecoveryOptions: a number is negative or NaN");
  }
  void note_progress(std::int64_t step, bool ran) {
    if (failures_ == 0 || (ran && step > furthest_)) {
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
  /// Seconds from the first failure to the end of the next pause.
  [[nodiscard]] double begins_after() const { return clock_.now() + backoff() - since_; }
  [[noreturn]] CROCHET_COLD void give_up(const std::exception_ptr& error, const std::string& line) const {
    if (!line.empty()) {
      diagnose(detail::message(
          {line, "the session was lost and is given up after ", failures_ - 1, " attempts: ", detail::what_of(error)}));
    }
    std::rethrow_exception(error);
  }

  RecoveryOptions options_;
  SleepClock clock_;
  int failures_ = 0;
  int recoveries_ = 0;
  std::int64_t furthest_ = 0;
  double since_ = 0;
};

/// No recovery: every error goes to the caller.
class Singular {
 public:
  static constexpr bool recovers = false;

  Singular(const RecoveryOptions& /*options*/, SleepClock /*clock*/) {}
  [[noreturn]] CROCHET_COLD void pause(const std::exception_ptr& error, std::int64_t /*step*/, bool /*ran*/,
                                       const Coordinator&, const std::string& /*line*/) {
    std::rethrow_exception(error);
  }
  [[nodiscard]] int recoveries() const { return 0; }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The middle layer of a session: its coordinator, with the threads that hooks start. If a thread and a run fail
// together, it decides which of the two errors is the cause.
#pragma once

#include <exception>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinator.hpp>

namespace crochet {

namespace detail {

/// Whether the session may be recreated after this error.
CROCHET_COLD inline bool is_preemption(const std::exception_ptr& error) {
  return error && is_any_of<PreemptionError>(error);
}

}  // namespace detail

/// The coordinator treats every exception as an error, also the end of data in a thread.
class CoordinatedLayer {
 public:
  CoordinatedLayer(double stop_grace_period_secs, SleepClock clock)
      : coordinator_(nullptr), grace_(stop_grace_period_secs), clock_(clock) {}

  [[nodiscard]] Coordinator& coordinator() { return coordinator_; }
  [[nodiscard]] const Coordinator& coordinator() const { return coordinator_; }

  /// The cause of a failed run: a PreemptionError that a thread reported, since the loss of a machine makes everything
  /// else fail; otherwise the run's own error.
  [[nodiscard]] CROCHET_COLD std::exception_ptr cause_of(std::exception_ptr error) const {
    if (detail::is_preemption(error)) return error;
    std::exception_ptr reported = coordinator_.error();
    return detail::is_preemption(reported) ? reported : error;
  }

  /// Called before the session is recreated: stops and joins threads. Requested stops, and errors that a new session
  /// does not repair, are kept.
  void restart() { coordinator_.restart_threads(grace_, clock_, &detail::is_preemption); }

  /// Final shutdown: stops and joins threads; prints the names of late threads to the diagnostic sink. Returns the
  /// error that a thread reported, or null.
  [[nodiscard]] CROCHET_COLD std::exception_ptr close() noexcept {
    try {
      coordinator_.request_stop("the session was closed");
      coordinator_.join(grace_, true, clock_);
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  Coordinator coordinator_;
  double grace_;
  SleepClock clock_;
};

}  // namespace crochet

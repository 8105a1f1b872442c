// SPDX-License-Identifier: Apache-2.0
// The middle layer of a session: its coordinator, with the threads that hooks start. Decides which of two errors is the
// cause when a thread and a run fail together.
#pragma once

#include <exception>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinator.hpp>

namespace crochet {

namespace detail {

/// May the session be created anew after this error?
CROCHET_COLD inline bool is_preemption(const std::exception_ptr& error) {
  return error && is_any_of<PreemptionError>(error);
}

}  // namespace detail

/// The coordinator takes every error for one: end of data of a thread, too.
class CoordinatedLayer {
 public:
  CoordinatedLayer(double stop_grace_period_secs, SleepClock clock)
      : coordinator_(nullptr), grace_(stop_grace_period_secs), clock_(clock) {}

  [[nodiscard]] Coordinator& coordinator() { return coordinator_; }
  [[nodiscard]] const Coordinator& coordinator() const { return coordinator_; }

  /// What a run failed of: a PreemptionError that a thread reported, since a machine that went away makes everything
  /// else fail; otherwise the run's own error.
  [[nodiscard]] CROCHET_COLD std::exception_ptr cause_of(std::exception_ptr error) const {
    if (detail::is_preemption(error)) return error;
    std::exception_ptr reported = coordinator_.error();
    return detail::is_preemption(reported) ? reported : error;
  }

  /// Before the session is created anew: threads end and are joined. Stops that were asked for, and errors that no new
  /// session can cure, stay.
  void restart() { coordinator_.restart_threads(grace_, clock_, &detail::is_preemption); }

  /// The end: threads end and are joined, those that are late are named on the diagnostic sink. Returns what a thread
  /// reported, or null.
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

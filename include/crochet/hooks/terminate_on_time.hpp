// SPDX-License-Identifier: Apache-2.0
// TerminateOnTime: a session with a time budget.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// Requests a stop after the first run that ends `seconds` after begin, so that `end` still runs:
/// `TerminateOnTime{.seconds = 3600}`. For a job with a hard limit, subtract the time of one step and one save.
///   seconds          seconds  -       the budget; above 0, else begin throws LogicError
///   across_restarts  -        false   also count the time that earlier programs used, from the checkpoint
///   clock                     steady
/// - Fires: after each run, and with across_restarts when the session is created.
/// - Fetches: nothing.
/// - Cost: one clock reading per run.
/// - State: the seconds used; they count only with across_restarts.
/// - The stop is an interruption (StopKind), as a later session resumes the training; with across_restarts it ends the
///   training.
/// - TensorFlow has a similar unpublished helper, on the wall clock.
struct TerminateOnTime {
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  double seconds = 0;
  bool across_restarts = false;
  Clock clock{};

  /// Start of the budget; begin sets it. NaN before.
  double start = std::numeric_limits<double>::quiet_NaN();

  void begin() {
    if (!(seconds > 0)) throw LogicError("crochet: TerminateOnTime: the budget of seconds has to be above 0");
    start = clock();
  }

  /// A training whose time is used up makes no further step when resumed.
  void after_create_session(auto& /*session*/, auto& coordinator) const {
    if (across_restarts && used() >= seconds) coordinator.request_stop(reason(), "TerminateOnTime");
  }

  void after_run(auto& run, const auto& /*values*/) const {
    if (used() >= seconds) [[unlikely]] {
      run.request_stop(reason(), across_restarts ? StopKind::end : StopKind::interruption);
    }
  }

  void save_state(auto& out) const { out.put("seconds_used", used()); }
  void load_state(auto& in) {
    double before = 0;
    if (!in.get("seconds_used", before) || !across_restarts) return;
    start = std::fmin(start, clock() - before);  // time discarded by a recovery counts too
  }

  /// Seconds since begin, and before it with across_restarts; 0 before begin.
  [[nodiscard]] double used() const { return std::isnan(start) ? 0 : clock() - start; }
  [[nodiscard]] std::string cadence() const { return "after " + cadence_text({.seconds = seconds}).substr(6); }

 private:
  [[nodiscard]] CROCHET_COLD std::string reason() const {
    return "the time budget of " + cadence_text({.seconds = seconds}).substr(6) + " is used up";
  }
};

}  // namespace crochet

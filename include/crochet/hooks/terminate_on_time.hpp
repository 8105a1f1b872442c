// SPDX-License-Identifier: Apache-2.0
// TerminateOnTime: a session with a time budget.
#pragma once

#include <algorithm>
#include <string>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// Asks to stop after the first run that ends `seconds` after begin, so that what is done in `end` still is:
/// `TerminateOnTime{.seconds = 3600}`. For a job that is killed after an hour, leave time for one step and one save.
///   seconds          seconds  -       the budget; above 0, else begin throws LogicError
///   across_restarts  -        false   count the time that earlier programs used, as the checkpoint has it
///   clock                     steady
/// Fires: after each run. Fetches: nothing. Cost: one reading of the clock per run. State: the seconds used, which only
/// counts with across_restarts. The stop is an interruption (StopKind), as a later session resumes the training; with
/// across_restarts it ends the training. The original has the like as an unpublished helper, on the wall clock.
struct TerminateOnTime {
  using handles = Phases<phase::begin, phase::after_run, phase::save_state, phase::load_state>;

  double seconds = 0;
  bool across_restarts = false;
  Clock clock{};

  /// When the budget began; begin sets it.
  double start = 0;

  void begin() {
    if (!(seconds > 0)) throw LogicError("crochet: TerminateOnTime: the budget of seconds has to be above 0");
    start = clock();
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
    start = std::min(start, clock() - before);  // what a recovery threw away is used, too
  }

  /// Seconds since begin, and before it.
  [[nodiscard]] double used() const { return clock() - start; }
  [[nodiscard]] std::string cadence() const { return "after " + cadence_text({}, seconds).substr(6); }

 private:
  [[nodiscard]] CROCHET_COLD std::string reason() const {
    return "the time budget of " + cadence_text({}, seconds).substr(6) + " is used up";
  }
};

}  // namespace crochet

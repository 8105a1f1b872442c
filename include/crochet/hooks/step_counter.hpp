// SPDX-License-Identifier: Apache-2.0
// StepCounter: logs the steps per second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Writes `step 100: global_step/sec = 153.2` to the sink.
///   every_steps    global steps  100    at most one of the three; both, or one out of range: begin throws LogicError
///   every_seconds  seconds       unset
///   every_epochs   epochs        unset   epochs of the data
///   anchor         -             global_step   first_run: the first run begins the first interval, as in TensorFlow
///   step_name      -             "global_step"   prefix of line and tag
///   summaries      -             none   receives each rate as a scalar summary, at the step after the run
///   sink, clock                  standard error, steady
/// - Fires: after the run that makes a multiple of every_steps, or after each interval of seconds. The first interval
///   begins when the session is created.
/// - Reports once when 20 consecutive runs did not advance the global step; a gradient accumulated over more runs is
///   such a case, too.
/// - Fetches: nothing; the session counts the step.
/// - Cost: a comparison per run, with every_seconds a clock reading.
/// - State: the current interval.
/// - TensorFlow's first interval begins after the first run (it reports at 11 and 21, not at 10 and 20), and continues
///   through a recovery, so that rates may be negative.
struct StepCounter {
  static constexpr auto runs_on = RunsOn::chief;
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  Sink sink{};
  Clock clock{};
  SummarySink summaries{};
  std::string step_name = "global_step";

  /// The last reported rate; 0 before the first report.
  double steps_per_second = 0;

  /// State so far; begin resets it.
  struct State {
    Cadence timer;
    std::int64_t step = 0;  // after the previous run
    int runs_without_progress = 0;
    bool complained = false;
    bool loaded = false;  // the interval continues
  };
  State state{};

  void begin() {
    steps_per_second = 0;
    state = State{.timer = cadence_of<StepCounter>(every(), anchor, Cadence::First::after_interval)};
  }

  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (!std::exchange(state.loaded, false)) state.timer.reset();
    state.timer.session_begins(session, clock());
    state.step = session.step();
    state.runs_without_progress = 0;
  }

  void after_run(auto& run, const auto& /*values*/) {
    const std::int64_t step = run.step();
    if (state.timer.due(run, clock)) report(run);
    state.runs_without_progress = step == state.step ? state.runs_without_progress + 1 : 0;
    if (state.runs_without_progress == patience && !std::exchange(state.complained, true)) complain();
    state.step = step;
  }

  /// State: the current interval, without the time between save and load.
  void save_state(auto& out) const {
    state.timer.save_state(out, clock());
    out.put("steps_per_second", steps_per_second);
  }
  void load_state(auto& in) {
    state.timer.load_state(in, clock());
    state.loaded = state.timer.started();
    in.get("steps_per_second", steps_per_second);
  }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  static constexpr int patience = 20;

  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(100); }

  CROCHET_COLD void report(auto& run) {
    const std::int64_t step = run.step();
    const auto elapsed = state.timer.triggered(step, clock());
    if (!elapsed || !(elapsed->seconds > 0)) return;
    steps_per_second = static_cast<double>(elapsed->steps) / elapsed->seconds;
    const std::string tag = step_name + "/sec";
    sink(detail::step_text(step, every_epochs ? run.epoch() : -1) + tag + " = " +
         detail::general_text(steps_per_second));
    summaries.scalar(tag, steps_per_second, step);
  }
  CROCHET_COLD void complain() const {
    sink(
        "crochet: StepCounter: 20 runs have not advanced the global step; does the model minimize anything in them, or "
        "accumulate gradients over more runs?");
  }
};

}  // namespace crochet

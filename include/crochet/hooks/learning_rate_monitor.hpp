// SPDX-License-Identifier: Apache-2.0
// LearningRateMonitor<"learning_rate">: logs changes of the learning rate.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Reads a scalar at an interval, and writes a line when its value has changed since the last reading:
///   step 100: learning_rate = 0.001
///   step 400: learning_rate = 0.0005
///   Text           -        "learning_rate"   the scalar
///   every_steps    steps    100    global steps; at most one of the three intervals. Several, one out of range, or
///                                  every_epochs with Anchor::first_run: begin throws LogicError
///   every_seconds  seconds  unset
///   every_epochs   epochs   unset  epochs of the data
///   anchor         -        global_step   first_run: due in the admitted runs 1, 1 + N, ...
///   on_change      -        unset  called with the step and the value of each line
///   summaries      -        none   receives a scalar summary for each reading, changed or not
///   sink, clock             standard error, steady
/// - Fires: in the run that makes a multiple of every_steps; with every_seconds in the first admitted run, then after
///   each interval; with every_epochs in the run that takes the last batch of each Nth epoch.
/// - Fetches: the scalar, in these runs.
/// - Cost: a comparison per run, with every_seconds a clock reading.
/// - State: when the next reading is due, and the last value.
/// - TensorFlow has no such hook.
template <FixedString Text = "learning_rate">
struct LearningRateMonitor {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run,
                         phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>> fetches{};

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::function<void(std::int64_t step, double value)> on_change{};
  Sink sink{};
  Clock clock{};
  SummarySink summaries{};

  /// State so far; begin resets it.
  struct State {
    RunCadence timer;
    double value = std::numeric_limits<double>::quiet_NaN();  // at the last reading
    std::int64_t since_step = -1;
  };
  State state{};

  void begin() {
    const Cadence timer = cadence_of<LearningRateMonitor>(every(), anchor);
    state = State{.timer = {timer, every().seconds || anchor == Anchor::first_run}};
  }

  void after_create_session(auto& session, auto& /*coordinator*/) { state.timer.epochs_begin(session, clock()); }

  MaybeFetch<Text> before_run(auto& run) {
    if (!state.timer.due_next(run, clock)) return {};
    return RunArgs<Fetches<Name<Text>>>{};
  }

  void after_run(auto& run, const auto& values) {
    const bool reached = state.timer.ran(run);
    if (values.requested() && reached) [[unlikely]] {
      look(run.step(), values[Name<Text>{}]);
    }
  }

  void save_state(auto& out) const {
    state.timer.save_state(out, clock());
    out.put("value", state.value);
    out.put("since_step", state.since_step);
  }
  void load_state(auto& in) {
    state.timer.load_state(in, clock());
    in.get("value", state.value);
    in.get("since_step", state.since_step);
  }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(100); }

  template <class T>
  CROCHET_COLD void look(std::int64_t step, T value) {
    static_assert(std::is_arithmetic_v<T>, "crochet: LearningRateMonitor needs a scalar");
    state.timer.triggered(step, clock());
    const auto number = static_cast<double>(value);
    summaries.scalar(Text.view(), number, step);
    if (number == state.value || (state.since_step >= 0 && std::isnan(number) && std::isnan(state.value))) return;
    state.value = number;
    state.since_step = step;
    sink(detail::step_text(step).append(Text.view()) + " = " + detail::value_text(value));
    if (on_change) on_change(step, number);
  }
};

}  // namespace crochet

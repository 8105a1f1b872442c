// SPDX-License-Identifier: Apache-2.0
// LoggingTensor<"loss">: logs values at an interval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// A value as it is logged.
struct LoggedValue {
  std::string_view name;
  std::string text;
  double number = std::numeric_limits<double>::quiet_NaN();  ///< NaN for what is not a scalar
};

/// The argument of a formatter, in the order of the hook's names.
struct LoggedValues {
  std::span<const LoggedValue> values;
  std::int64_t step = 0;
  /// Since the previous line. In the first line: since the first run (every_steps), or since the session was created
  /// (every_epochs). Empty if the first run writes the first line, and if no interval is set.
  std::optional<double> seconds;
  std::int64_t epoch = -1;  ///< number of complete epochs, for a hook with every_epochs; else -1

  /// The value of the name. Throws LogicError if there is none.
  const LoggedValue& operator[](std::string_view name) const {
    for (const LoggedValue& value : values) {
      if (value.name == name) return value;
    }
    throw LogicError("crochet: a formatter asks for \"" + std::string(name) + "\", which is not logged");
  }
};

/// Writes `step 100: loss = 0.5, acc = 0.9 (0.123 sec)` to the sink: `LoggingTensor<"loss", "acc">{.every_steps =
/// 100}`.
///   Text...        -        -        the names, in the order of the line (TensorFlow sometimes sorts them)
///   every_steps    steps    unset    exactly one of the three, or none with at_end; else, or out of range, begin
///   every_seconds  seconds  unset    throws LogicError
///   every_epochs   epochs   unset   epochs of the data
///   anchor         -        global_step   first_run: due in the admitted runs 1, 1 + N, ...
///   at_end         -        false    `end` logs the values of the last run, unless they are already logged
///   formatter      -        unset    returns the whole line for a LoggedValues
///   sink, clock             standard error, steady
/// - Fires: in the run that makes a multiple of every_steps; with every_seconds in the first admitted run, then after
///   each interval.
/// - The seconds of a line are those since the last line; of the first line since the first run, with every_epochs
///   since the session was created.
/// - `end` reports if more than every_steps runs had no line because they did not advance the global step.
/// - Fetches: the names, in these runs; with at_end in every run, since any may be the last.
/// - Cost: a comparison, with every_seconds a clock reading; with at_end about 0.1 us per value and run.
/// - State: when the next line is due.
/// - TensorFlow makes a further run at the end. That run consumes data, has no feeds, and would advance a step
///   function.
template <FixedString... Text>
struct LoggingTensor {
  static constexpr auto runs_on = RunsOn::chief;
  static_assert(sizeof...(Text) > 0, "crochet: LoggingTensor needs a name: LoggingTensor<\"loss\">");
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>...> fetches{};

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  bool at_end = false;
  std::function<std::string(const LoggedValues&)> formatter{};
  Sink sink{};
  Clock clock{};

  /// State so far; begin resets it.
  struct State {
    RunCadence timer;
    std::int64_t step = -1;    // of `latest`
    std::int64_t epoch = -1;   // of `latest`, with every_epochs
    std::int64_t resumed = 0;  // runs before a resume
    bool due = false;
    bool is_new = false;      // `latest` has no line yet
    bool has_logged = false;  // there was a line
    // Not `{}`: g++ 12 then fails where a template makes the hook (GCC bug, check_noexcept_r).
    std::array<LoggedValue, sizeof...(Text)> latest = std::array<LoggedValue, sizeof...(Text)>();
  };
  State state{};

  void begin() {
    const Cadence timer =
        at_end ? cadence_of<LoggingTensor>(every(), anchor) : required_cadence_of<LoggingTensor>(every(), anchor);
    state = State{.timer = {timer, !(every_steps || every_epochs) || anchor == Anchor::first_run}};
    for (LoggedValue& value : state.latest) value.text.reserve(32);  // any scalar fits: no allocation later
  }

  void after_create_session(auto& session, auto& /*coordinator*/) { state.timer.epochs_begin(session, clock()); }

  MaybeFetch<Text...> before_run(auto& run) {
    state.due = state.timer.due_next(run, clock);
    if (!state.due && !at_end) return {};
    return RunArgs<Fetches<Name<Text>...>>{};
  }

  void after_run(auto& run, const auto& values) {
    const bool reached = state.timer.ran(run);
    if (values.requested()) [[unlikely]] {
      remember(run.step(), values);
      if (every_epochs) state.epoch = run.epoch();
      if (state.due && reached) log();
    }
  }

  void end(auto& /*session*/) {
    if (at_end && state.is_new) log();
    if (!state.has_logged && every_steps && state.timer.runs() - state.resumed > *every_steps) complain();
  }

  /// State: when the next line is due; the values of the last run are not saved.
  void save_state(auto& out) const { state.timer.save_state(out, clock()); }
  void load_state(auto& in) {
    state.timer.load_state(in, clock());
    state.resumed = state.timer.runs();
  }

  [[nodiscard]] std::string cadence() const {
    const std::string text = cadence_text(every(), anchor);
    return !at_end ? text : text.empty() ? "at the end" : text + " and at the end";
  }

 private:
  [[nodiscard]] Intervals every() const { return {every_steps, every_seconds, every_epochs}; }
  CROCHET_COLD void remember(std::int64_t step, const auto& values) {
    state.step = step;
    state.is_new = true;
    std::size_t i = 0;
    (remember_one(state.latest[i++], Text.view(), values[Name<Text>{}]), ...);
  }
  template <class T>
  static void remember_one(LoggedValue& to, std::string_view name, const T& value) {
    to.name = name;
    to.text.clear();
    detail::append_value(to.text, value);
    if constexpr (std::is_arithmetic_v<T>) to.number = static_cast<double>(value);
  }

  CROCHET_COLD void complain() const {
    sink("crochet: " + detail::type_name<LoggingTensor>() + " has logged nothing in " +
         std::to_string(state.timer.runs() - state.resumed) + " runs: the global step has not reached a multiple of " +
         std::to_string(*every_steps) + "; .anchor = Anchor::first_run counts runs instead");
  }
  CROCHET_COLD void log() {
    state.is_new = false;
    state.has_logged = true;
    LoggedValues logged{.values = state.latest, .step = state.step, .seconds = {}, .epoch = state.epoch};
    if (const auto elapsed = state.timer.triggered(state.step, clock())) logged.seconds = elapsed->seconds;
    sink(formatter ? formatter(logged) : line(logged));
  }
  CROCHET_COLD static std::string line(const LoggedValues& logged) {
    std::string text = detail::step_text(logged.step, logged.epoch);
    std::string_view between;
    for (const LoggedValue& value : logged.values) {
      text.append(std::exchange(between, ", ")).append(value.name).append(" = ").append(value.text);
    }
    if (!logged.seconds) return text;
    return text + " (" + detail::fixed_text(*logged.seconds, 3) + " sec)";
  }
};

/// LoggingTensor{"loss"}: the error says that names are template arguments.
template <class... Given>
LoggingTensor(Given...) -> LoggingTensor<>;

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// ProgressBar: shows progress, speed and remaining time of the loop.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/base/standard_error.hpp>
#include <crochet/base/terminal.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/progress_line.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Shows step, speed and remaining time of the loop: on a terminal in one line that is redrawn, elsewhere (a file, a
/// pipe) in plain lines without the bar:
///   1200/2000 [============>       ]  60% 153.2 steps/s 0:05 left  loss = 0.35
///   Text...          -        none      values to show: `Progress<"loss">{.total = 2000}`
///   total            steps    unset     the global step at which the loop ends; unset: no bar and no remaining time.
///                                       begin throws LogicError for one below 1
///   epochs           epochs   unset     in place of `total`: the loop ends after these epochs. The line begins with
///                                       `epoch 3/10`. The bar is exact if each run takes one batch and makes one step.
///                                       LogicError from session creation without data that count epochs
///   refresh_seconds  seconds  0.1       least time between two redraws; the step `total` is drawn in any case
///   line_seconds     seconds  60        longest time between two plain lines; one follows each tenth of `total` too
///   columns          -        detected  columns of the terminal; 0: plain lines
///   write            -        standard error   receives the text
///   clock            -        steady
/// - At the end it draws the last state and starts a new line; after an error it only starts a new line. Values of an
///   earlier step, after a stop by another hook or where a run makes several steps, are followed by `at step 1990`.
/// - Lines that the library writes to standard error appear above the bar.
/// - Fires: when a line is due.
/// - Fetches: the values, only in runs after which a line is due.
/// - Cost: one clock reading per run.
/// - TensorFlow has no such hook.
template <FixedString... Text>
struct Progress {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;
  static constexpr Fetches<Name<Text>...> fetches{};

  std::optional<std::int64_t> total{};
  std::optional<std::int64_t> epochs{};
  double refresh_seconds = 0.1;
  double line_seconds = 60;
  /// Columns of the terminal; 0: no terminal, plain lines; unset: detected.
  std::optional<int> columns{};
  /// Output of the text with its control characters and line ends; unset: standard error.
  std::function<void(std::string_view)> write{};
  Clock clock{};

  /// State so far; begin resets it.
  struct State {
    detail::ProgressLine line;
    std::string epoch{};  // "epoch 3/10 "
    int columns = 0;
    bool due = false;
    std::int64_t foreseen = 0;  // the last step, once it was due because it is the last
    double drawn_at = 0;        // time, step and tenth of `total` of the last draw
    std::int64_t drawn_step = 0;
    std::int64_t drawn_tenth = 0;
    std::int64_t values_step = 0;  // of the values
    // Not `{}`, as in LoggingTensor.
    std::array<std::string, sizeof...(Text)> values = std::array<std::string, sizeof...(Text)>();
  };
  State state{};

  void begin() {
    if (total.value_or(1) < 1 || epochs.value_or(1) < 1) {
      throw LogicError(
          "crochet: Progress: total and epochs have to be at least 1; leave them out for a loop without end");
    }
    state = State{.line = {.total = total}, .columns = columns ? *columns : detail::terminal_columns()};
  }

  void after_create_session(auto& session, auto& /*coordinator*/) {
    state.line.step = session.step();
    state.line.rate = 0;
    if (epochs) place(session.epoch_place());
    drawn(clock());
  }

  MaybeFetch<Text...> before_run(auto& run) {
    state.due = is_due(run.step() + 1);
    if (!state.due) return {};
    return RunArgs<Fetches<Name<Text>...>>{};
  }

  void after_run(auto& run, [[maybe_unused]] const auto& values) {
    state.line.step = run.step();
    if (!state.due) [[likely]] {
      return;
    }
    [[maybe_unused]] std::size_t i = 0;
    (remember(state.values[i++], values[Name<Text>{}]), ...);
    state.values_step = run.step();
    if (epochs) place(run.session().epoch_place());
    draw();
  }

  void end(auto& session) {
    if (epochs) place(session.epoch_place());
    if (state.columns > 0 || state.line.step != state.drawn_step) draw();
    finish_line();
  }
  void on_error(const std::exception_ptr& /*error*/) { finish_line(); }

 private:
  [[nodiscard]] std::int64_t tenth(std::int64_t step) const {
    const std::optional<std::int64_t>& all = state.line.total;
    return all && *all > 0 ? 10 * std::min(step, *all) / *all : 0;
  }
  [[nodiscard]] bool is_due(std::int64_t step) {
    const double waited = clock() - state.drawn_at;
    if (state.columns > 0) {
      if (waited >= refresh_seconds) return true;
      if (step != state.line.total || step == state.foreseen) return false;
      state.foreseen = step;  // once: a run need not make a step
      return true;
    }
    return waited >= line_seconds || tenth(step) != state.drawn_tenth;
  }
  /// The epoch in progress, and the step at which the last one ends.
  void place(const EpochPlace& now) {
    const std::int64_t left = *epochs - now.epoch;
    state.epoch = "epoch " + std::to_string(std::min(now.epoch + 1, *epochs)) + "/" + std::to_string(*epochs) + " ";
    if (now.batches <= 0) return;
    constexpr std::int64_t most = std::int64_t{1} << 56;  // steps; more means that something else ends the loop
    if (left > most / now.batches) return state.line.total.reset();
    state.line.total = state.line.step + std::max<std::int64_t>(0, left * now.batches - now.batch);
  }
  template <class T>
  static void remember(std::string& to, const T& value) {
    to.clear();
    detail::append_value(to, value);
  }

  CROCHET_COLD void draw() {
    measure(clock());
    std::string text = state.epoch + state.line.text(state.columns > 0) + values_text();
    if (state.columns > 0) {
      text.resize(std::min(text.size(), static_cast<std::size_t>(state.columns - 1)));  // a full line would wrap
      write ? write("\r" + text + "\x1b[K") : detail::standard_error.draw(text);
    } else {
      write ? write(text + "\n") : detail::standard_error.line(text);
    }
  }
  CROCHET_COLD void finish_line() const {
    if (state.columns == 0) return;
    write ? write("\n") : detail::standard_error.leave_bar();
  }

  /// Smooths the rate over the last few draws.
  void measure(double now) {
    const double seconds = now - state.drawn_at;
    if (seconds > 0 && state.line.step > state.drawn_step) {
      const double rate = static_cast<double>(state.line.step - state.drawn_step) / seconds;
      state.line.rate = state.line.rate == 0 ? rate : 0.7 * state.line.rate + 0.3 * rate;
    }
    drawn(now);
  }
  void drawn(double now) {
    state.drawn_at = now;
    state.drawn_step = state.line.step;
    state.drawn_tenth = tenth(state.line.step);
  }

  [[nodiscard]] std::string values_text() const {
    std::string text;
    if constexpr (sizeof...(Text) > 0) {
      if (state.values[0].empty()) return text;  // no run has been due yet
    }
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto add = [&](std::string_view name) {
      (text += i == 0 ? "  " : ", ").append(name).append(" = ").append(state.values[i]);
      ++i;
    };
    (add(Text.view()), ...);
    // At the end of a loop whose last step was not foreseen, they are those of an earlier step.
    if (i > 0 && state.values_step != state.line.step) text += " at step " + std::to_string(state.values_step);
    return text;
  }
};

/// `ProgressBar{}`, `ProgressBar{.total = 2000}`.
using ProgressBar = Progress<>;

}  // namespace crochet

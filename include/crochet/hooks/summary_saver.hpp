// SPDX-License-Identifier: Apache-2.0
// SummarySaver<summary::Scalar<"loss">, ...>: saves summaries for plots at an interval.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/summary_items.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>

namespace crochet {

/// Saves its items (hooks/kit/summary_items.hpp) as one summary:
///   SummarySaver<summary::Scalar<"loss">, summary::Histogram<"hidden/kernel">>{.every_steps = 100,
///                                                                              .summaries = events}
///   Items...       -             -       the saved items
///   every_steps    global steps  unset   exactly one of the three; else, or out of range, begin throws LogicError
///   every_seconds  seconds       unset
///   every_epochs   epochs        unset   epochs of the data
///   anchor         -             global_step   first_run: at steps 1, 101, 201, ...
///   summaries      -             none    the sink
///   clock          -             steady
/// - Fires: in the run that makes a multiple of every_steps (steps 100, 200, ...); with every_seconds in the first run
///   of a session (a resumed one continues its interval), then after each interval.
/// - Fetches: the names of its items, in these runs only, and never without a sink. TensorFlow without a writer
///   evaluates its summaries in every run and discards them.
/// - Writes a START entry of the session log after the first run of a session, at its step, and after a step back.
///   `end` adds STOP and flushes; `on_error` flushes, so that the plot includes the steps before the error.
/// - Cost when due: the items' copies, and a virtual call.
/// - Throws: what the sink throws.
template <class... Items>
struct SummarySaver {
  static constexpr auto runs_on = RunsOn::chief;
  static_assert(sizeof...(Items) > 0,
                "crochet: SummarySaver needs something to save: SummarySaver<summary::Scalar<\"loss\">>");
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error, phase::save_state, phase::load_state>;
  using Requested = typename decltype(RunArgs{Items::fetches...})::fetches_type;
  static constexpr Requested fetches{};

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  SummarySink summaries{};
  Clock clock{};

  /// State so far; begin resets it.
  struct State {
    Cadence timer;
    bool begun = false;  // a run of this session is over
  };
  State state{};

  void begin() { state = State{.timer = required_cadence_of<SummarySaver>(every(), anchor)}; }

  void after_create_session(auto& session, auto& /*coordinator*/) {
    state.timer.epochs_begin(session, clock());
    state.begun = false;
  }

  std::optional<RunArgs<Requested>> before_run(auto& run) {
    if (!summaries || !state.timer.due_next(run, clock)) return {};
    return RunArgs<Requested>{};
  }

  void after_run(auto& run, const auto& values) {
    const bool reached = state.timer.ran(run);
    if (!std::exchange(state.begun, true)) [[unlikely]] {
      summaries.start(run.step());
    }
    if (values.requested() && reached) [[unlikely]] {
      save(run.step(), values);
    }
  }

  void end(auto& session) {
    summaries.stop(session.step());
    summaries.flush();
  }
  void on_error(const std::exception_ptr& /*error*/) { summaries.flush(); }

  /// State: when the next summary is due.
  void save_state(auto& out) const { state.timer.save_state(out, clock()); }
  void load_state(auto& in) { state.timer.load_state(in, clock()); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return {every_steps, every_seconds, every_epochs}; }
  CROCHET_COLD void save(std::int64_t step, const auto& values) {
    state.timer.triggered(step, clock());
    io::Summary summary;
    (Items::add(summary, values), ...);
    summaries.add(std::move(summary), step);
  }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Profiler: traces single runs at an interval. It schedules the traces; the given tracer makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// A recorder of runs.
template <class T>
concept Tracer = requires(T& tracer, std::int64_t step) {
  tracer.start();     // record the run that follows
  tracer.stop(step);  // the run succeeded as step number `step`: store the record
  tracer.abandon();   // the run threw: discard the record
};

/// When to trace; exactly one of the three intervals.
struct ProfilerOptions {
  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  Clock clock{};
};

/// Records single runs: `Profiler{my_tracer, {.every_steps = 1000}}`.
///   every_steps    steps    unset   exactly one of the three; else, or out of range, begin throws LogicError
///   every_seconds  seconds  unset
///   every_epochs   epochs   unset   epochs of the data
///   anchor         -        global_step   first_run: the runs that make F + N, F + 2N, ... of a session from step F
///   clock                   steady
/// - Fires: never in the first run of a session, which contains one-time work; then in the runs that make a multiple of
///   N, or in the first one that begins S seconds after the last record. every_steps = 2: runs 2, 4, 6; 1: runs 2, 3,
///   4.
/// - Fetches: nothing.
/// - Cost: a comparison per run, with every_seconds a clock reading; in a recorded run the tracer's.
/// - Throws: what the tracer throws.
/// - TensorFlow requests a full trace through the run's options, for all hooks of that run. It reads the step in the
///   run that it traces, so the step may be the one before.
template <Tracer T>
class Profiler {
 public:
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;

  Profiler(T tracer, ProfilerOptions options) : tracer_(std::move(tracer)), options_(std::move(options)) {}

  [[nodiscard]] T& tracer() { return tracer_; }
  [[nodiscard]] const T& tracer() const { return tracer_; }

  void begin() {
    timer_ = required_cadence_of<Profiler>(every(), options_.anchor, Cadence::First::after_interval);
    primed_ = recording_ = false;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    timer_.epochs_begin(session, options_.clock());
    give_up();
    primed_ = false;
  }

  void before_run(auto& run) {
    if (recording_) give_up();  // the previous run threw
    const bool due = timer_.due_next(run, options_.clock);
    if (!primed_) [[unlikely]] {
      prime(run.step());
      if (due && options_.every_epochs) timer_.triggered(run.step(), options_.clock());
    } else if (due) [[unlikely]] {
      recording_ = true;
      tracer_.start();
    }
  }
  void after_run(auto& run, const auto& /*values*/) {
    const bool reached = timer_.ran(run);
    if (recording_) [[unlikely]] {
      reached ? finish(run.step()) : give_up();
    }
  }
  void end(auto& /*session*/) { give_up(); }
  void on_error(auto& /*error*/) { give_up(); }

  [[nodiscard]] std::string cadence() const { return "one run " + cadence_text(every(), options_.anchor); }

 private:
  [[nodiscard]] Intervals every() const {
    return {options_.every_steps, options_.every_seconds, options_.every_epochs};
  }
  CROCHET_COLD void prime(std::int64_t step) {
    if (!options_.every_epochs)
      timer_.start(options_.anchor == Anchor::global_step ? step + 1 : step, options_.clock());
    primed_ = true;
  }
  CROCHET_COLD void finish(std::int64_t step) {
    recording_ = false;
    timer_.triggered(step, options_.clock());
    tracer_.stop(step);
  }
  CROCHET_COLD void give_up() {
    if (std::exchange(recording_, false)) tracer_.abandon();
  }

  T tracer_;
  ProfilerOptions options_;
  Cadence timer_;
  bool primed_ = false;
  bool recording_ = false;
};

}  // namespace crochet

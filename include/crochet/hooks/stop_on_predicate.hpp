// SPDX-License-Identifier: Apache-2.0
// StopOnPredicate, make_early_stopping: stops when a function returns true.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/stop_signal.hpp>

namespace crochet {

/// When to call the function, and which sessions to stop.
struct EarlyStoppingOptions {
  std::optional<double> run_every_seconds{};
  std::optional<std::int64_t> run_every_steps{};
  std::optional<std::int64_t> run_every_epochs{};
  Anchor anchor = Anchor::global_step;
  StopSignal signal{};  ///< set too, for the sessions with a CheckForStopping
  Sink sink{};
  Clock clock{};
};

/// Calls a function at an interval, and stops the loop by its result: `make_early_stopping([&] { return
/// std::filesystem::exists("stop"); })`.
///   function           -        returns bool, or std::optional<std::string>: the reason for a stop; no arguments
///   run_every_seconds  seconds  60      not below 0; unset if steps or epochs are given
///   run_every_epochs   epochs   unset   above 0; epochs of the data
///   run_every_steps    steps    unset   above 0; global steps
///   anchor             -        global_step   first_run: after runs 1, 1 + N, 1 + 2N, ...
///   signal             -        one of its own   also stops the sessions with a CheckForStopping of this signal
///   sink, clock                 standard error, steady
/// More than one interval, one out of range, or epochs with Anchor::first_run: begin throws LogicError.
/// - Fires: after the run that makes a multiple of run_every_steps, so in the step of an evaluation by a hook in front
///   with the same interval; with seconds after the first run, then at the interval.
/// - Fetches: nothing.
/// - Cost: a comparison per run, with seconds a clock reading; a call costs what the function costs.
/// - State: when the next call is due, and the step at which it stopped the training. Resumed there, it calls the
///   function before the first run.
/// - Throws: what the function throws.
/// - TensorFlow accepts steps only if the default seconds are unset, and fails with its own default under any
///   distribution strategy.
template <class F>
class StopOnPredicate {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end, phase::save_state,
                         phase::load_state>;

  explicit(false) StopOnPredicate(F should_stop, EarlyStoppingOptions options = {})
      : should_stop_(std::move(should_stop)), options_(std::move(options)) {}

  void mute() { options_.sink = no_lines; }
  void begin() {
    if constexpr (requires {
                    { should_stop_ == nullptr } -> std::same_as<bool>;
                  }) {
      if (should_stop_ == nullptr) throw LogicError("crochet: make_early_stopping: the function is empty");
    }
    timer_ = required_cadence_of<StopOnPredicate>(every(), options_.anchor);
    stopped_at_ = -1;
  }

  /// A training that it has stopped makes no further step when resumed, if the function still returns true.
  void after_create_session(auto& session, auto& coordinator) {
    timer_.session_begins(session, options_.clock());
    if (std::exchange(stopped_at_, -1) != session.step()) return;
    if (const std::optional<std::string> reason = call()) {
      stopped_at_ = session.step();
      options_.signal.request(*reason);
      coordinator.request_stop(*reason, detail::readable_name<StopOnPredicate>.view());
    }
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer_.due(run, options_.clock)) [[unlikely]] {
      timer_.triggered(run.step(), options_.clock());
      if (const std::optional<std::string> reason = call()) stop(run, *reason);
    }
  }
  void end(auto& /*session*/) {
    if constexpr (requires { should_stop_.warning(); }) {
      if (const std::string text = should_stop_.warning(); !text.empty()) options_.sink(text);
    }
  }

  /// State: when the next call is due, and the step at which it stopped the training.
  void save_state(auto& out) const {
    timer_.save_state(out, options_.clock());
    out.put("stopped_at", stopped_at_);
  }
  void load_state(auto& in) {
    timer_.load_state(in, options_.clock());
    in.get("stopped_at", stopped_at_);
  }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), options_.anchor); }

 private:
  [[nodiscard]] Intervals every() const {
    const Intervals given{options_.run_every_steps, options_.run_every_seconds, options_.run_every_epochs};
    return given.any() ? given : Intervals{.seconds = 60};
  }
  CROCHET_COLD std::optional<std::string> call() {
    if constexpr (std::is_same_v<std::invoke_result_t<F&>, std::optional<std::string>>) {
      return should_stop_();
    } else {
      static_assert(std::is_convertible_v<std::invoke_result_t<F&>, bool>,
                    "crochet: make_early_stopping needs a function that returns bool or std::optional<std::string>");
      return should_stop_() ? std::optional<std::string>{"the function of early stopping said so"} : std::nullopt;
    }
  }
  CROCHET_COLD void stop(auto& run, const std::string& reason) {
    stopped_at_ = run.step();
    options_.signal.request(reason);
    run.request_stop(reason);
  }

  F should_stop_;
  EarlyStoppingOptions options_;
  Cadence timer_;
  std::int64_t stopped_at_ = -1;
};

template <class F>
StopOnPredicate<F> make_early_stopping(F should_stop, EarlyStoppingOptions options = {}) {
  return StopOnPredicate<F>{std::move(should_stop), std::move(options)};
}

}  // namespace crochet

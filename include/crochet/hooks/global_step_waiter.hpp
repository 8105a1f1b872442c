// SPDX-License-Identifier: Apache-2.0
// GlobalStepWaiter: delays the first run until the global step has reached a number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/base/sleep.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Waits in before_run until the global step has reached `wait_until_step`, so that workers start one after another:
/// `GlobalStepWaiter{.wait_until_step = 1000}`. Once the step is reached, it does not wait again in this session.
///   wait_until_step  steps    0        0 or below: no wait
///   poll_seconds     seconds  0.5      interval of polls; above 0, else begin throws LogicError
///   max_seconds      seconds  unset    time limit of the wait, as the sum of its sleeps; unset: no limit
///   step_elsewhere   -        unset    reads the step that other processes advance; unset: the session's step
///   sink, sleep               stderr, the thread sleeps
/// - Fires: before the first run, once. Writes a line when the wait begins and whenever the step has advanced by more
///   than 1000.
/// - Fetches: nothing.
/// - Cost: after the wait a comparison per run.
/// - Throws: StopIteration when the session's coordinator receives a stop request during the wait; the delayed run is
///   not made. DeadlineExceededError after max_seconds.
/// - TensorFlow's hook ignores the coordinator and has no time limit.
struct GlobalStepWaiter {
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run>;

  std::int64_t wait_until_step = 0;
  double poll_seconds = 0.5;
  std::optional<double> max_seconds{};
  std::function<std::int64_t()> step_elsewhere{};
  Sink sink{};
  Sleep sleep{};

  /// State so far; begin resets it.
  struct State {
    bool started = false;
    std::function<bool()> stopped{};
  };
  State state{};

  void mute() { sink = no_lines; }
  void begin() {
    if (!(poll_seconds > 0)) throw LogicError("crochet: GlobalStepWaiter: poll_seconds has to be above 0");
    state = State{.started = wait_until_step <= 0};
  }

  void after_create_session(auto& /*session*/, auto& coordinator) {
    state.stopped = [&coordinator] { return coordinator.should_stop(); };
  }

  void before_run(auto& run) {
    if (state.started) [[likely]] {
      return;
    }
    wait([&] { return step_elsewhere ? step_elsewhere() : run.step(); });
    state.started = true;
  }

  [[nodiscard]] std::string cadence() const { return "before the first run"; }

 private:
  CROCHET_COLD void wait(const auto& step_now) const {
    constexpr std::int64_t worth_a_line = 1000;
    std::int64_t step = step_now();
    if (step >= wait_until_step) return;
    say(step);
    double waited = 0;
    for (std::int64_t said = step; step < wait_until_step; step = step_now(), waited += poll_seconds) {
      if (step - said > worth_a_line) say(said = step);
      if (max_seconds && waited >= *max_seconds) give_up(step);
      if (sleep_unless(state.stopped, poll_seconds, sleep)) {
        throw StopIteration("crochet: GlobalStepWaiter: stopped while it waited for step " +
                            std::to_string(wait_until_step));
      }
    }
  }
  [[noreturn]] void give_up(std::int64_t step) const {
    throw DeadlineExceededError("crochet: GlobalStepWaiter: " + std::to_string(*max_seconds) +
                                " s are over and the global step is " + std::to_string(step) + ", not " +
                                std::to_string(wait_until_step));
  }
  void say(std::int64_t step) const {
    sink("waiting for global step " + std::to_string(wait_until_step) + "; it is " + std::to_string(step));
  }
};

}  // namespace crochet

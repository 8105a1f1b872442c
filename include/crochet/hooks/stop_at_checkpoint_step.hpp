// SPDX-License-Identifier: Apache-2.0
// StopAtCheckpointStep: stops when a checkpoint of another process has reached a step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sleep.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/stop_at_step.hpp>

namespace crochet {

/// Ends a session that does not save, once the chief has saved the step:
///   StopAtCheckpointStep{.checkpoint_step = [&] { return step_of_latest_checkpoint(folder); }, .last_step = 2000}
///   checkpoint_step  -        -    returns the step of the latest checkpoint; an empty optional while there is none
///   last_step        steps    -    not below 0
///   wait_seconds     seconds  30   pause after a checkpoint that is too old; above 0
///   sleep                     the thread sleeps
/// A missing function or a number out of range: begin throws LogicError.
/// - Fires: after a run that reaches last_step. It reads the checkpoint's step once: if it has reached last_step, it
///   requests a stop; else it waits, and the next run follows. A stop of the session's coordinator ends the wait at
///   once.
/// - Fetches: nothing.
/// - Cost: a comparison per run before the step is reached.
struct StopAtCheckpointStep {
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run>;

  std::function<std::optional<std::int64_t>()> checkpoint_step{};
  std::int64_t last_step = -1;
  double wait_seconds = 30;
  Sleep sleep{};

  /// Whether the session's coordinator has a stop request; set when the session is created.
  std::function<bool()> stopped{};

  void begin() {
    if (!checkpoint_step) refuse("set checkpoint_step, a function that tells the step of the latest checkpoint");
    if (last_step < 0) refuse("set last_step, not below 0");
    if (!(wait_seconds > 0)) refuse("wait_seconds has to be above 0");
    stopped = {};
  }
  void after_create_session(auto& /*session*/, auto& coordinator) {
    stopped = [&coordinator] { return coordinator.should_stop(); };
  }
  void after_run(auto& run, const auto& /*values*/) const {
    if (run.step() >= last_step) [[unlikely]] {
      look(run);
    }
  }

  [[nodiscard]] std::string cadence() const { return "from step " + std::to_string(last_step) + " on"; }

 private:
  CROCHET_COLD void look(auto& run) const {
    const std::optional<std::int64_t> saved = checkpoint_step();
    if (saved && *saved >= last_step) {
      run.request_stop("the checkpoint of step " + std::to_string(*saved) + " was written");
    } else {
      (void)sleep_unless(stopped, wait_seconds, sleep);
    }
  }
  [[noreturn]] CROCHET_COLD static void refuse(const std::string& why) {
    throw LogicError("crochet: StopAtCheckpointStep: " + why);
  }
};

/// The hook that ends a session of this role at a step. The chief, which saves, stops at the step itself; a worker
/// stops when the chief's checkpoint has reached it.
template <bool Chief>
auto make_stop_at_checkpoint_step(std::function<std::optional<std::int64_t>()> checkpoint_step, std::int64_t last_step,
                                  double wait_seconds = 30) {
  if constexpr (Chief) {
    return StopAtStep{.last_step = last_step};
  } else {
    return StopAtCheckpointStep{
        .checkpoint_step = std::move(checkpoint_step), .last_step = last_step, .wait_seconds = wait_seconds};
  }
}

}  // namespace crochet

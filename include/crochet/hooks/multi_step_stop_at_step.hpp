// SPDX-License-Identifier: Apache-2.0
// MultiStepStopAtStep: StopAtStep for an executor whose run makes several steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/fed_number.hpp>
#include <crochet/hooks/stop_at_step.hpp>

namespace crochet {

/// Feeds each run its number of steps, so that the last run is shorter and ends at the target. With
/// `MultiStepStopAtStep<>{.num_steps = 10, .steps_per_run = 4}` the runs make 4, 4 and 2 steps.
///   Text           -      "steps_per_run"   the scalar placeholder or input that is fed
///   last_step      steps  unset             exactly one of the two, as for StopAtStep
///   num_steps      steps  unset
///   steps_per_run  steps  1                 above 0, else begin throws LogicError
/// - Fires: feeds every run; requests a stop after the one that reaches the target.
/// - Fetches: nothing.
/// - Cost: a comparison and the feed.
/// - Requires an executor that counts its steps (Executor, global_step): after_run throws LogicError if the step has
///   not advanced by the fed number.
/// - TensorFlow keeps the number in a variable that it loads after each run.
template <FixedString Text = "steps_per_run">
struct MultiStepStopAtStep {
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run>;

  std::optional<std::int64_t> last_step{};
  std::optional<std::int64_t> num_steps{};
  std::int64_t steps_per_run = 1;

  /// State so far; begin resets it.
  struct State {
    StopAtStep stop{};
    std::int64_t due = 0;  // the step that the current run must reach
  };
  State state{};

  void begin() {
    if (steps_per_run < 1) throw LogicError("crochet: MultiStepStopAtStep: steps_per_run has to be above 0");
    state = State{.stop = {.last_step = last_step, .num_steps = num_steps}};
    state.stop.begin("MultiStepStopAtStep");
  }
  void after_create_session(auto& session, auto& coordinator) {
    state.stop.after_create_session(session, coordinator, detail::readable_name<MultiStepStopAtStep>.view());
  }

  auto before_run(auto& run) {
    const std::int64_t steps = std::clamp<std::int64_t>(state.stop.target - run.step(), 0, steps_per_run);
    state.due = run.step() + steps;
    return RunArgs{feed<Text>(static_cast<detail::fed_number<decltype(run), Name<Text>, std::int64_t>>(steps))};
  }
  void after_run(auto& run, const auto& values) const {
    if (run.step() != state.due) [[unlikely]] {
      refuse(run.step());
    }
    state.stop.after_run(run, values);
  }

  [[nodiscard]] std::string cadence() const {
    return StopAtStep{.last_step = last_step, .num_steps = num_steps}.cadence();
  }

 private:
  [[noreturn]] CROCHET_COLD void refuse(std::int64_t step) const {
    throw LogicError("crochet: MultiStepStopAtStep: the run should have ended at step " + std::to_string(state.due) +
                     " and ended at " + std::to_string(step) +
                     "; the executor has to count its steps itself, and to make as many as \"" +
                     std::string(Text.view()) + "\" says");
  }
};

}  // namespace crochet

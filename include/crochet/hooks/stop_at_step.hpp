// SPDX-License-Identifier: Apache-2.0
// StopAtStep: ends the loop at a global step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Ends the loop at a global step: `StopAtStep{.last_step = 2000}`.
///   last_step  global steps  unset   exactly one of the two, not negative; else begin throws LogicError
///   num_steps  global steps  unset   counted from the step at which the session is created
/// - Fires: after the run that reaches the step; before the first run if the step is already reached.
/// - Fetches: nothing.
/// - Cost: a comparison per run.
/// - State: none; the target is kept over a recovery.
/// - TensorFlow runs one step too many when the step is already reached, and fetches the step in every run. Its hook
///   with num_steps ends a second session after a single run; here each session counts anew.
struct StopAtStep {
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run>;

  std::optional<std::int64_t> last_step{};
  std::optional<std::int64_t> num_steps{};
  /// The step at which it stops; set when the session is created. With num_steps it survives recovery.
  std::int64_t target = -1;

  /// hook, here and below: the name in errors and as the source of a stop, for a hook that is made of this one.
  void begin(std::string_view hook = "StopAtStep") {
    check(hook);
    target = last_step.value_or(-1);
  }

  void after_create_session(auto& session, auto& coordinator, std::string_view hook = "StopAtStep") {
    if (target < 0) target = session.step() + std::min(*num_steps, most - session.step());
    if (session.step() >= target) coordinator.request_stop(reason(), hook);
  }

  void after_run(auto& run, const auto& /*values*/) const {
    if (run.step() >= target) [[unlikely]] {
      run.request_stop(reason());
    }
  }

  [[nodiscard]] std::string cadence() const {
    return last_step ? "at step " + std::to_string(*last_step)
                     : "after " + std::to_string(num_steps.value_or(0)) + " steps";
  }

 private:
  static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] CROCHET_COLD std::string reason() const { return "step " + std::to_string(target) + " was reached"; }

  CROCHET_COLD void check(std::string_view hook) const {
    if (last_step.has_value() == num_steps.has_value()) {
      throw LogicError(detail::message(
          {"crochet: ", hook, ": set exactly one of last_step and num_steps, not ", last_step ? "both" : "none"}));
    }
    if (last_step.value_or(0) < 0 || num_steps.value_or(0) < 0) {
      throw LogicError(detail::message({"crochet: ", hook, ": steps cannot be negative"}));
    }
  }
};

}  // namespace crochet

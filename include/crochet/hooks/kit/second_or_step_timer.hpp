// SPDX-License-Identifier: Apache-2.0
// SecondOrStepTimer, NeverTriggerTimer: a Cadence under the names of TensorFlow's timers, for ported hooks.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// Whether an action of every N steps, or every S seconds, is due at a step.
///   every_steps    steps    unset   exactly one of the two, above 0
///   every_seconds  seconds  unset   not below 0
///   clock                   steady  TensorFlow has the wall clock
/// - Due at once the first time, and when the step goes backwards. TensorFlow's timer is then silent until the old step
///   is reached again.
/// - Throws: LogicError from the constructor unless exactly one of the two is given and in range.
/// - New hooks use Cadence.
class SecondOrStepTimer {
 public:
  struct Options {
    std::optional<std::int64_t> every_steps{};
    std::optional<double> every_seconds{};
    Clock clock{};
  };

  explicit SecondOrStepTimer(Options options)
      : fresh_(required_cadence_of<SecondOrStepTimer>({options.every_steps, options.every_seconds, {}},
                                                      Anchor::first_run)),
        cadence_(fresh_),
        clock_(std::move(options.clock)) {}

  /// Resets to the initial state.
  void reset() { cadence_ = fresh_; }
  /// Const; never true twice for one step.
  [[nodiscard]] bool should_trigger_for_step(std::int64_t step) const { return Cadence(cadence_).due(step, clock_); }
  /// Records a trigger. Returns the seconds and steps since the last one; empty the first time.
  std::optional<Cadence::Elapsed> update_last_triggered_step(std::int64_t step) {
    const double now = clock_();
    const auto elapsed = cadence_.triggered(step, now);
    cadence_.start(step, now);  // also after a step backwards: the interval begins at this step
    return elapsed;
  }
  /// Empty before the first trigger.
  [[nodiscard]] std::optional<std::int64_t> last_triggered_step() const { return cadence_.last_step(); }

 private:
  Cadence fresh_;
  Cadence cadence_;
  Clock clock_;
};

/// A timer that is never due.
class NeverTriggerTimer {
 public:
  void reset() {}
  [[nodiscard]] bool should_trigger_for_step(std::int64_t /*step*/) const { return false; }
  std::optional<Cadence::Elapsed> update_last_triggered_step(std::int64_t /*step*/) { return {}; }
  [[nodiscard]] std::optional<std::int64_t> last_triggered_step() const { return {}; }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// SecondOrStepTimer, NeverTriggerTimer: a Cadence under the names of TensorFlow's timers, for hooks that are ported.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// Says whether something that is done every N steps, or every S seconds, is due at a step.
///   every_steps    steps    unset   exactly one of the two, above 0
///   every_seconds  seconds  unset   not below 0
///   clock                   steady  in place of the original's wall clock
/// Throws LogicError from the constructor unless exactly one of the two is given and in range. Due at once the first
/// time. When the step goes backwards it is due at once, too: the original then stays silent until the old step comes
/// again. Hooks written for crochet use Cadence itself.
class SecondOrStepTimer {
 public:
  struct Options {
    std::optional<std::int64_t> every_steps{};
    std::optional<double> every_seconds{};
    Clock clock{};
  };

  explicit SecondOrStepTimer(Options options)
      : fresh_(required_cadence_of<SecondOrStepTimer>(options.every_steps, options.every_seconds, Anchor::first_run)),
        cadence_(fresh_),
        clock_(std::move(options.clock)) {}

  /// As if it had never triggered.
  void reset() { cadence_ = fresh_; }
  /// Changes nothing; never true twice for one step.
  [[nodiscard]] bool should_trigger_for_step(std::int64_t step) const { return Cadence(cadence_).due(step, clock_); }
  /// Notes that it triggered. Returns how many seconds and steps after the last time; nothing the first time.
  std::optional<Cadence::Elapsed> update_last_triggered_step(std::int64_t step) {
    return cadence_.triggered(step, clock_());
  }
  /// Nothing before the first time.
  [[nodiscard]] std::optional<std::int64_t> last_triggered_step() const { return cadence_.last_step(); }

 private:
  Cadence fresh_;
  Cadence cadence_;
  Clock clock_;
};

/// The timer that is never due.
class NeverTriggerTimer {
 public:
  void reset() {}
  [[nodiscard]] bool should_trigger_for_step(std::int64_t /*step*/) const { return false; }
  std::optional<Cadence::Elapsed> update_last_triggered_step(std::int64_t /*step*/) { return {}; }
  [[nodiscard]] std::optional<std::int64_t> last_triggered_step() const { return {}; }
};

}  // namespace crochet

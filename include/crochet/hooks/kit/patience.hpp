// SPDX-License-Identifier: Apache-2.0
// Patience: counts values without improvement, for hooks that stop or change a rate by them.
#pragma once

#include <cstdint>

#include <crochet/hooks/kit/aim.hpp>

namespace crochet {

/// Counts the values without improvement. Usable without a hook:
///   Patience patience{.aim = Aim::highest, .patience = 5};
///   if (patience.exhausted(accuracy, step)) break;
struct Patience {
  /// Which values are better; required.
  Aim aim;
  /// Number of consecutive values without improvement after which it is exhausted; at least 1.
  std::int64_t patience = 10;
  /// Minimum difference from the best value that counts as an improvement; not below 0.
  double min_delta = 0;

  double best = 0;
  std::int64_t best_step = -1;  // -1: no value yet
  std::int64_t since = 0;       // values since the best one
  std::int64_t last_step = -1;  // of the last value; not part of a saved state

  /// Records a value. True when it is time to stop. NaN is never an improvement.
  constexpr bool exhausted(double value, std::int64_t step) {
    last_step = step;
    if (better(value)) {
      best = value;
      best_step = step;
      since = 0;
    } else {
      ++since;
    }
    return since >= patience;
  }
  /// Whether a value is of a step that a session at `step` has not reached: of a lost training.
  [[nodiscard]] constexpr bool is_ahead_of(std::int64_t step) const { return last_step > step; }

 private:
  [[nodiscard]] constexpr bool better(double value) const {
    if (best_step < 0) return value == value;
    return aim.better(value, best, min_delta);
  }
};

}  // namespace crochet

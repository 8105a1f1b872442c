// SPDX-License-Identifier: Apache-2.0
// Aim: which values of a metric are the better ones.
#pragma once

#include <string_view>

namespace crochet {

/// The direction of a metric. Every hook that compares values has it as the option `.aim`.
/// - There is no default: a wrong direction keeps the worst weights, and no check at run time can detect it. An omitted
///   aim is a compile error.
/// - `stop_if_no_increase`, `stop_if_higher` and their counterparts have the direction in their names.
class Aim {
 public:
  static const Aim lowest;   ///< smaller values are better: a loss
  static const Aim highest;  ///< larger values are better: an accuracy

  // Compilers show the next line where the aim is omitted.
  Aim() = delete;  // crochet: set .aim: Aim::lowest for a loss, or Aim::highest for an accuracy. It has no default.

  /// Whether `value` is better than `best` by more than `min_delta`. False if one of them is NaN.
  [[nodiscard]] constexpr bool better(double value, double best, double min_delta = 0) const {
    return highest_ ? value > best + min_delta : value < best - min_delta;
  }
  /// "lowest" or "highest".
  [[nodiscard]] constexpr std::string_view text() const { return highest_ ? "highest" : "lowest"; }
  /// "lower" or "higher": the adjective of a better value.
  [[nodiscard]] constexpr std::string_view comparative() const { return highest_ ? "higher" : "lower"; }

  friend constexpr bool operator==(Aim, Aim) = default;

 private:
  explicit constexpr Aim(bool is_highest) : highest_(is_highest) {}

  bool highest_;
};

inline constexpr Aim Aim::lowest{false};
inline constexpr Aim Aim::highest{true};

}  // namespace crochet

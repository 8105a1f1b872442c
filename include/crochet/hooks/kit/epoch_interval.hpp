// SPDX-License-Identifier: Apache-2.0
// EpochInterval: the part of a Cadence that counts epochs of the data.
#pragma once

#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet {

/// An interval of N epochs, which ends in the run that takes the last batch of an epoch whose number is a multiple of
/// N. The numbers are those of RawSession::epoch. Cost: comparisons, and two divisions in over().
class EpochInterval {
 public:
  /// Counts nothing.
  constexpr EpochInterval() = default;
  /// `length` > 0 epochs.
  constexpr explicit EpochInterval(std::int64_t length) : length_(length) {}

  /// Begins an interval after `epoch` epochs.
  constexpr void start(std::int64_t epoch) { last_ = over_at_ = epoch; }
  /// Whether the interval is over. Stays so until next(). An epoch that goes backwards begins an interval.
  constexpr bool over(std::int64_t epoch) {
    read_ = epoch;
    if (epoch < last_) start(epoch);
    const bool is_over = epoch / length_ > last_ / length_;
    over_at_ = is_over ? epoch : last_;
    return is_over;
  }
  /// Begins the next interval if the last over() was true, at its epoch.
  constexpr void next() { last_ = over_at_; }
  /// Throws LogicError if the epoch is not that of the last call of over(): a batch was taken in between.
  constexpr void require_unchanged(std::int64_t epoch) const {
    if (epoch != read_) [[unlikely]] {
      fail_too_early();
    }
  }
  /// The epoch at which the current interval began.
  [[nodiscard]] constexpr std::int64_t last() const { return last_; }

 private:
  [[noreturn]] CROCHET_COLD static void fail_too_early() {
    throw LogicError(
        "crochet: the last batch of an epoch was taken after a hook with .every_epochs had decided what to fetch; put "
        "the hook that takes the batch (FeedFn) in front of it");
  }

  std::int64_t length_ = 0;
  std::int64_t last_ = 0;     // the epoch at which the interval began
  std::int64_t over_at_ = 0;  // the epoch of the last over(), if it was true; else last_
  std::int64_t read_ = 0;     // the epoch of the last over()
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Timestamps: strictly increasing times of published events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include <crochet/base/clock.hpp>

namespace crochet::debug {

/// Microseconds since 1970, UTC. Each value is greater than the one before, even if the system clock is set back.
/// Readers reject a dump in which a producer has a later time than its consumer, and merge two firings with equal
/// times. Not thread-safe.
class Timestamps {
 public:
  Timestamps() = default;
  /// `now` returns microseconds since 1970; unset: the system's clock.
  explicit Timestamps(std::function<std::int64_t()> now) {
    if (now) now_ = std::move(now);
  }

  std::int64_t next() { return last_ = std::max(now_(), last_ + 1); }

 private:
  std::function<std::int64_t()> now_{&microseconds_since_1970};
  std::int64_t last_ = 0;
};

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// Timestamps: when something was published, so that what came later has the greater number.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace crochet::debug {

/// Microseconds since 1970, UTC; each greater than the one before, whatever the clock of the machine does. Readers take
/// a producer that is stamped behind its consumer for a broken dump, and two firings of one time for one. One thread at
/// a time.
class Timestamps {
 public:
  Timestamps() = default;
  /// `now` returns microseconds since 1970.
  explicit Timestamps(std::function<std::int64_t()> now) : now_(std::move(now)) {}

  std::int64_t next() { return last_ = std::max(now_ ? now_() : machine(), last_ + 1); }

 private:
  static std::int64_t machine() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }

  std::function<std::int64_t()> now_;
  std::int64_t last_ = 0;
};

}  // namespace crochet::debug

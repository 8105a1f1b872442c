// SPDX-License-Identifier: Apache-2.0
// Bars: the distribution of values as bars of equal width.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace crochet::web {

/// The finite values in [least, greatest], counted in bars of equal width.
/// - Cost: two passes over the values.
struct Bars {
  static constexpr std::size_t count = 40;

  std::int64_t step = 0;
  double least = 0, greatest = 0;  ///< 0 if no value is finite
  std::uint64_t non_finite = 0;    ///< infinities and NaNs, in no bar
  std::array<std::uint64_t, count> bars{};
  std::uint64_t version = 0;

  template <class T>
  static Bars of(std::span<const T> values, std::int64_t step) {
    Bars made{.step = step};
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    for (const T value : values) {
      const auto x = static_cast<double>(value);
      if (!std::isfinite(x)) continue;
      least = std::min(least, x);
      greatest = std::max(greatest, x);
    }
    if (least > greatest) {
      made.non_finite = values.size();
      return made;
    }
    made.least = least;
    made.greatest = greatest;
    // Halves, since the difference of two large numbers may be infinite.
    const double width = greatest / 2 - least / 2;
    for (const T value : values) made.add(static_cast<double>(value), width);
    return made;
  }

 private:
  void add(double x, double width) {
    if (!std::isfinite(x)) {
      ++non_finite;
      return;
    }
    const double place = width > 0 ? (x / 2 - least / 2) / width * static_cast<double>(count) : 0;
    ++bars[std::min(count - 1, static_cast<std::size_t>(std::max(0.0, place)))];
  }
};

}  // namespace crochet::web

// SPDX-License-Identifier: Apache-2.0
// Histogram: counts of values in the buckets of TensorFlow's event files.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace crochet::io {

namespace detail {

/// The 774 positive limits: 1e-12, then each 1.1 times the previous one, while below 1e20.
inline constexpr std::size_t positive_limits = 774;

/// All 1551 limits, ascending: -DBL_MAX, the negated positive ones, 0, the positive ones, DBL_MAX.
struct BucketLimits {
  static constexpr std::size_t zero = positive_limits + 1, size = 2 * positive_limits + 3;

  std::array<double, size> limits{};
  /// Indexed by the leading bits of a positive double (exponent and four bits): the first limit that may be above it.
  /// Numbers that share these bits have at most one limit between them, since 1.1 > 1 + 1 / 16.
  static constexpr std::size_t first_cell = (1023 - 40) << 4, cells = 107 << 4;
  std::array<std::uint16_t, cells> start{};

  BucketLimits() {
    limits.front() = -std::numeric_limits<double>::max();
    limits.back() = std::numeric_limits<double>::max();
    double v = 1e-12;
    for (std::size_t k = 0; k < positive_limits; ++k, v *= 1.1) {
      limits[zero + 1 + k] = v;
      limits[zero - 1 - k] = -v;
    }
    for (std::size_t c = 0; c < cells; ++c) {
      const auto least = std::bit_cast<double>(static_cast<std::uint64_t>(first_cell + c) << 48);
      start[c] = static_cast<std::uint16_t>(std::upper_bound(limits.begin(), limits.end(), least) - limits.begin());
    }
  }

  /// The first limit above x, for x > 0; the last limit if there is none.
  [[nodiscard]] std::size_t above(double x) const {
    const auto cell = static_cast<std::size_t>(std::bit_cast<std::uint64_t>(x) >> 48);
    if (cell < first_cell) return zero + 1;
    if (cell >= first_cell + cells) return size - 1;
    const std::size_t i = start[cell - first_cell];
    return limits[i] > x ? i : i + 1;
  }
  /// The first limit above x, for any finite x.
  [[nodiscard]] std::size_t bucket_of(double x) const {
    if (x >= 0) return x == 0 ? zero + 1 : above(x);
    const std::size_t mirrored = 2 * zero - above(-x);  // the greatest -limit below x
    return limits[mirrored + 1] > x ? mirrored + 1 : mirrored + 2;
  }
};

inline const BucketLimits& bucket_limits() {
  static const BucketLimits limits;
  return limits;
}

}  // namespace detail

/// Counts values in 1551 buckets. A value belongs to the first bucket whose limit is above it.
/// - Infinities and NaNs are counted separately.
/// - Cost: 12 kB; a few nanoseconds per value.
/// - Source of the limits: TensorFlow's default histogram buckets.
class Histogram {
 public:
  /// A bucket, or a run of empty buckets as one: the values in [previous limit, limit).
  struct Bucket {
    double limit;
    double count;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  template <class T>
  void add(std::span<const T> values) {
    for (const T value : values) add(static_cast<double>(value));
  }
  void add(double x) {
    if (!std::isfinite(x)) {
      ++non_finite_;
      return;
    }
    ++counts_[detail::bucket_limits().bucket_of(x)];
    min_ = std::min(min_, x);
    max_ = std::max(max_, x);
    sum_ += x;
    sum_squares_ += x * x;
    ++num_;
  }

  [[nodiscard]] std::uint64_t num() const { return num_; }
  /// DBL_MAX and -DBL_MAX if there are no values.
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double sum_squares() const { return sum_squares_; }
  /// The number of infinities and NaNs.
  [[nodiscard]] std::uint64_t non_finite() const { return non_finite_; }

  /// The buckets, ascending. A run of empty buckets is one bucket with the last limit of the run.
  [[nodiscard]] std::vector<Bucket> buckets() const {
    std::vector<Bucket> found;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const Bucket next{detail::bucket_limits().limits[i], static_cast<double>(counts_[i])};
      if (next.count == 0 && !found.empty() && found.back().count == 0) {
        found.back() = next;
      } else {
        found.push_back(next);
      }
    }
    return found;
  }

 private:
  std::array<std::uint64_t, detail::BucketLimits::size> counts_{};
  std::uint64_t num_ = 0, non_finite_ = 0;
  double min_ = std::numeric_limits<double>::max(), max_ = -std::numeric_limits<double>::max();
  double sum_ = 0, sum_squares_ = 0;
};

}  // namespace crochet::io

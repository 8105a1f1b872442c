// SPDX-License-Identifier: Apache-2.0
// Series: a curve in bounded memory. Neighbouring points are merged as it grows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace crochet::web {

/// Consecutive points of a curve.
struct Bucket {
  std::int64_t first = 0, last = 0;  ///< steps
  std::int64_t points = 0;           ///< among them those that are no number or infinite
  std::int64_t finite = 0;
  double least = std::numeric_limits<double>::infinity();  ///< of the finite values, like the next two
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::uint64_t version = 0;  ///< of its last change

  void add(const Bucket& next) {
    last = next.last;
    points += next.points;
    finite += next.finite;
    least = std::min(least, next.least);
    greatest = std::max(greatest, next.greatest);
    sum += next.sum;
    version = std::max(version, next.version);
  }
};

/// At most `capacity` buckets (at least 2) of equally many points. If they are full, each two become one, so that a
/// bucket holds twice as many points; least and greatest value survive.
/// - A step below the last one (an older checkpoint was restored) removes the buckets from there on. A bucket with
///   earlier steps keeps them; its numbers remain those of all its points.
/// - A second point of the last step replaces the first in a bucket of one point. In a larger bucket it only widens the
///   range of its values.
/// - Memory: 64 bytes for each of `capacity` buckets. Cost of a point: amortized constant. One thread at a time.
class Series {
 public:
  explicit Series(std::size_t capacity = 512) : capacity_(std::max<std::size_t>(2, capacity)) {}

  /// `version` must not decrease from call to call.
  void add(std::int64_t step, double value, std::uint64_t version) {
    Bucket point{.first = step, .last = step, .points = 1, .version = version};
    if (std::isfinite(value)) {
      point.finite = 1;
      point.least = point.greatest = point.sum = value;
    }
    if (!buckets_.empty() && buckets_.back().last == step) return add_again(point);
    rewind(step, version);
    if (!buckets_.empty() && buckets_.back().points < stride_) {
      buckets_.back().add(point);
    } else {
      if (buckets_.size() == capacity_) halve(version);
      if (buckets_.empty()) buckets_.reserve(capacity_);
      buckets_.push_back(point);
    }
  }

  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// The number of points in a full bucket.
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  /// The index of the first bucket that is new or changed after `version`; 0 if earlier ones were merged or removed
  /// since.
  [[nodiscard]] std::size_t first_after(std::uint64_t version) const {
    if (rebuilt_ > version) return 0;
    const auto changed = [&](const Bucket& bucket) { return bucket.version <= version; };
    return static_cast<std::size_t>(std::partition_point(buckets_.begin(), buckets_.end(), changed) - buckets_.begin());
  }

 private:
  void halve(std::uint64_t version) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < buckets_.size(); i += 2, ++kept) {
      buckets_[kept] = buckets_[i];
      if (i + 1 < buckets_.size()) buckets_[kept].add(buckets_[i + 1]);
    }
    buckets_.resize(kept);
    stride_ *= 2;
    rebuilt_ = version;
  }
  /// For a second point of the last step, as of a second writer of the curve.
  void add_again(const Bucket& point) {
    Bucket& bucket = buckets_.back();
    if (bucket.points == 1) {
      bucket = point;
      return;
    }
    bucket.least = std::min(bucket.least, point.least);
    bucket.greatest = std::max(bucket.greatest, point.greatest);
    bucket.version = point.version;
  }
  void rewind(std::int64_t step, std::uint64_t version) {
    while (!buckets_.empty() && buckets_.back().first >= step) {
      buckets_.pop_back();
      rebuilt_ = version;
    }
    if (buckets_.empty() || buckets_.back().last < step) return;
    buckets_.back().last = step - 1;
    buckets_.back().version = version;
  }

  std::size_t capacity_;
  std::int64_t stride_ = 1;
  std::uint64_t rebuilt_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace crochet::web

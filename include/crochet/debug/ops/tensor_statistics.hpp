// SPDX-License-Identifier: Apache-2.0
// Statistics of a tensor's elements, computed in one pass.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <crochet/debug/ops/elements.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// Counts and extremes of the elements added so far. All computations are in double: integers beyond 2^53 are rounded.
/// A complex number counts as its absolute value; as NaN if one of its parts is NaN; otherwise as infinite if one of
/// its parts is infinite.
class TensorStatistics {
 public:
  /// Adds a whole number of elements.
  void add(io::DataType type, std::span<const std::byte> bytes) {
    for_each_element(type, bytes, [this](auto element) { add_value(element); });
  }

  [[nodiscard]] std::uint64_t elements() const { return finite_ + nan_ + positive_infinite_ + negative_infinite_; }
  [[nodiscard]] std::uint64_t nan() const { return nan_; }
  [[nodiscard]] std::uint64_t positive_infinite() const { return positive_infinite_; }
  [[nodiscard]] std::uint64_t negative_infinite() const { return negative_infinite_; }
  [[nodiscard]] std::uint64_t infinite() const { return positive_infinite_ + negative_infinite_; }
  [[nodiscard]] std::uint64_t zeros() const { return zeros_; }
  [[nodiscard]] std::uint64_t finite() const { return finite_; }
  /// Of the finite elements; without any, min is inf, max is -inf, mean and deviation are NaN.
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }
  [[nodiscard]] double mean() const { return finite_ == 0 ? std::numeric_limits<double>::quiet_NaN() : mean_; }
  /// The population standard deviation of the finite elements; inf if a squared difference overflows.
  [[nodiscard]] double deviation() const {
    return finite_ == 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(squares_ / static_cast<double>(finite_));
  }

 private:
  template <class T>
  void add_value(T element) {
    add_real(static_cast<double>(element));
  }
  template <class T>
  void add_value(std::complex<T> element) {
    const double real = static_cast<double>(element.real()), imaginary = static_cast<double>(element.imag());
    // hypot(NaN, infinity) is infinity; a NaN has to be counted as NaN.
    add_real(std::isnan(real) || std::isnan(imaginary) ? std::numeric_limits<double>::quiet_NaN()
                                                       : std::hypot(real, imaginary));
  }
  void add_real(double x) {
    if (std::isnan(x)) {
      ++nan_;
    } else if (std::isinf(x)) {
      ++(x > 0 ? positive_infinite_ : negative_infinite_);
    } else {
      add_finite(x);
    }
  }
  // Welford's algorithm: it needs no sum of all elements, which could overflow or lose small elements.
  void add_finite(double x) {
    ++finite_;
    if (x == 0) ++zeros_;
    if (x < min_) min_ = x;
    if (x > max_) max_ = x;
    const double from_mean = x - mean_, n = static_cast<double>(finite_);
    mean_ += std::isinf(from_mean) ? x / n - mean_ / n : from_mean / n;  // n is 2 at least if the difference overflows
    squares_ += from_mean * (x - mean_);
  }

  std::uint64_t nan_ = 0, positive_infinite_ = 0, negative_infinite_ = 0, zeros_ = 0, finite_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -std::numeric_limits<double>::infinity();
  double mean_ = 0, squares_ = 0;
};

}  // namespace crochet::debug

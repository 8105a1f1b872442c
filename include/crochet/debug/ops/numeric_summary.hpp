// SPDX-License-Identifier: Apache-2.0
// The result of DebugNumericSummary: 14 numbers about a tensor, and its shape.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <crochet/debug/ops/elements.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// Whether DebugNumericSummary supports this element type: bool and numbers of up to 64 bits, except half precision.
constexpr bool can_be_summarized(io::DataType type) {
  using enum io::DataType;
  return type == boolean || type == float32 || type == float64 || type == int8 || type == int16 || type == int32 ||
         type == int64 || type == uint8 || type == uint16 || type == uint32 || type == uint64;
}
/// Whether DebugNanCount supports this element type: numbers of up to 64 bits, also of half precision.
constexpr bool can_be_counted(io::DataType type) {
  using enum io::DataType;
  return type == float16 || type == bfloat16 || (can_be_summarized(type) && type != boolean);
}

namespace detail {

/// Flushes a subnormal number to a zero of its sign, because TensorFlow's kernels run with flush-to-zero enabled.
template <class T>
T flushed(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::fpclassify(x) == FP_SUBNORMAL) return std::copysign(T{0}, x);
  }
  return x;
}

/// Calls `visit(double)` for each element, in order. Subnormal numbers are flushed to zero.
template <class T, class Visit>
void each_as(const Tensor& tensor, Visit&& visit) {
  const std::size_t n = tensor.bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    visit(static_cast<double>(flushed(value)));
  }
}
template <class Visit>
void each_number(const Tensor& tensor, Visit&& visit) {
  switch (tensor.dtype) {
    case io::DataType::float32:
      return each_as<float>(tensor, visit);
    case io::DataType::float64:
      return each_as<double>(tensor, visit);
    case io::DataType::int8:
      return each_as<std::int8_t>(tensor, visit);
    case io::DataType::int16:
      return each_as<std::int16_t>(tensor, visit);
    case io::DataType::int32:
      return each_as<std::int32_t>(tensor, visit);
    case io::DataType::int64:
      return each_as<std::int64_t>(tensor, visit);
    case io::DataType::boolean:  // 0 or 1 in a byte
    case io::DataType::uint8:
      return each_as<std::uint8_t>(tensor, visit);
    case io::DataType::uint16:
      return each_as<std::uint16_t>(tensor, visit);
    case io::DataType::uint32:
      return each_as<std::uint32_t>(tensor, visit);
    case io::DataType::uint64:
      return each_as<std::uint64_t>(tensor, visit);
    default:
      return;
  }
}

/// Counts the elements by range. An infinite bound counts only infinities.
struct NumberCounts {
  double lower, upper;
  double all = 0, nan = 0, low = 0, negative = 0, zero = 0, positive = 0, high = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, finite = 0;

  void add(double x) {
    ++all;
    if (std::isnan(x)) {
      ++nan;
    } else if (std::isinf(x)) {
      ++(x < 0 ? low : high);
    } else {
      ++finite, sum = flushed(sum + x);
      least = x < least ? x : least;
      greatest = x > greatest ? x : greatest;
      ++place_of(x);
    }
  }

 private:
  double& place_of(double x) {
    if (!std::isinf(lower) && x <= lower) return low;
    if (!std::isinf(upper) && x >= upper) return high;
    return x < 0 ? negative : x > 0 ? positive : zero;
  }
};

}  // namespace detail

/// The numbers of a tensor, all as double. An infinite `lower` or `upper` is no bound.
/// - 0 initialized (1 or 0), 1 elements, 2 NaN, 3 -inf and finite ones <= lower, 4 negative, 5 zero, 6 positive, 7 +inf
///   and finite ones >= upper;
/// - of the finite ones: 8 minimum, 9 maximum, 10 mean, 11 variance;
/// - 12 the element type (tensorflow.DataType), 13 rank, 14... the extents.
/// - Without finite elements, 8 to 11 are inf, -inf, NaN, NaN. Finite elements beyond a bound are included in 8 to 11.
/// - For types that `can_be_summarized` rejects, all counts are 0. Subnormal elements and intermediate results count as
///   zeros.
/// - Cost: two passes over the elements.
/// - Source: the kernel DebugNumericSummaryV1. The order of operations and the flush-to-zero mode are the same, so that
///   the results are equal bit by bit.
inline std::vector<double> numeric_summary(const Tensor& tensor, float lower = -std::numeric_limits<float>::infinity(),
                                           float upper = std::numeric_limits<float>::infinity()) {
  detail::NumberCounts counts{static_cast<double>(lower), static_cast<double>(upper)};
  if (tensor.initialized) detail::each_number(tensor, [&](double x) { counts.add(x); });
  const double mean = detail::flushed(counts.sum / counts.finite);  // 0 / 0 is NaN
  double squares = 0;
  if (tensor.initialized) {
    detail::each_number(tensor, [&](double x) {
      if (!std::isfinite(x)) return;
      const double difference = detail::flushed(x - mean);
      squares = detail::flushed(squares + detail::flushed(difference * difference));
    });
  }
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const bool any = counts.finite > 0;
  std::vector<double> summary{tensor.initialized ? 1.0 : 0.0,
                              counts.all,
                              counts.nan,
                              counts.low,
                              counts.negative,
                              counts.zero,
                              counts.positive,
                              counts.high,
                              counts.least,
                              counts.greatest,
                              any ? mean : nan,
                              any ? detail::flushed(squares / counts.finite) : nan,
                              static_cast<double>(tensor.dtype),
                              static_cast<double>(tensor.shape.size())};
  for (const std::int64_t extent : tensor.shape) summary.push_back(static_cast<double>(extent));
  return summary;
}

/// Whether there is no NaN, no infinity and nothing beyond a bound. `mute_if_healthy` suppresses such summaries.
inline bool is_healthy(const std::vector<double>& summary) {
  return summary[2] == 0 && summary[3] == 0 && summary[7] == 0;
}

/// The number of NaN among the elements, the result of DebugNanCount. 0 for integers and uninitialized tensors.
inline std::int64_t nan_count(const Tensor& tensor) {
  std::int64_t count = 0;
  if (!tensor.initialized) return count;
  for_each_element(tensor.dtype, tensor.bytes, [&]([[maybe_unused]] auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) count += std::isnan(x) ? 1 : 0;
  });
  return count;
}

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// Cumulative sums along an axis.
#pragma once
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_cumulative_sum(const OpInputs& in) {
  want_number(in);
  return in[0];
}
constexpr void gradient_of_cumulative_sum(GradientScope& s);
constexpr unsigned items_of_cumulative_sum(const Attributes& a) { return a.ints[0] != 0 ? 1 : 0; }
}  // namespace detail

namespace op {
/// ints = {axis, exclusive, reverse}.
inline constexpr Op cumulative_sum{.name = "cumulative_sum",
                                   .infer = detail::infer_cumulative_sum,
                                   .gradient = detail::gradient_of_cumulative_sum,
                                   .itemwise = detail::items_of_cumulative_sum};
}  // namespace op

/// Options of cumulative_sum().
struct Cumulative {
  bool exclusive = false;  ///< exclude the element itself: each result is the sum of the elements before it
  bool reverse = false;    ///< sum from the end to the beginning
};

/// Element i along the axis is the sum of elements 0 to i (numpy.cumsum, tf.cumsum). The shape is that of x. Floating
/// sums are kept in double.
constexpr Tensor cumulative_sum(Tensor x, int axis, Cumulative how = {}) {
  const int rank = static_cast<int>(x.shape().rank);
  detail::axis_bit(x.shape(), axis);  // reports an invalid axis
  const Attributes a{.ints = {axis < 0 ? axis + rank : axis, how.exclusive ? 1 : 0, how.reverse ? 1 : 0}};
  return x.graph->apply(op::cumulative_sum, a, x);
}

namespace detail {
/// The gradient is the cumulative sum of the upstream in the other direction.
constexpr void gradient_of_cumulative_sum(GradientScope& s) {
  const Attributes a = s.attributes();
  s.give(0, cumulative_sum(s.full_upstream(), a.ints[0], {a.ints[1] != 0, a.ints[2] == 0}));
}
}  // namespace detail

}  // namespace crochet

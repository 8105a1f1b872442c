// SPDX-License-Identifier: Apache-2.0
// Permutation of axes.
#pragma once
#include <crochet/graph/ops/views.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_transpose(const OpInputs& in) {
  Shape out;
  for (std::size_t i = 0; i < in.shape(0).rank; ++i) {
    out.push_back(in.shape(0)[static_cast<std::size_t>(in.attributes.ints[i])]);
  }
  return {in[0].dtype, out};
}
constexpr void gradient_of_transpose(GradientScope& s);
constexpr unsigned items_of_transpose(const Attributes& a) { return a.ints[0] == 0 ? 1 : 0; }
}  // namespace detail

namespace op {
/// Axis i of the result is axis ints[i] of the input.
inline constexpr Op transpose =
    detail::accepting_bfloat16({"transpose", OpKind::kernel, detail::infer_transpose, detail::gradient_of_transpose, -1,
                                detail::items_of_transpose});
}  // namespace op

namespace detail {
/// Axis i of the result is axis order[i] of x. A view if only dimensions of 1 are moved.
constexpr Tensor transpose(Tensor x, const Attributes& order) {
  const Shape from = x.shape();
  Shape to;
  std::int32_t last = -1;
  bool sorted = true, moved = false;
  for (std::size_t i = 0; i < from.rank; ++i) {
    const std::int32_t axis = order.ints[i];
    to.push_back(from[static_cast<std::size_t>(axis)]);
    moved = moved || axis != static_cast<std::int32_t>(i);
    if (to[i].is_one()) continue;
    sorted = sorted && axis > last;
    last = axis;
  }
  if (!moved) return x;
  return sorted ? reshape(x, to) : x.graph->apply(op::transpose, order, x);
}
}  // namespace detail

/// `x` with permuted axes: axis i of the result is axis permutation[i] of x; negative ones count from the right
/// (numpy.transpose).
constexpr Tensor transpose(Tensor x, std::initializer_list<int> permutation) {
  const std::size_t rank = x.shape().rank;
  if (permutation.size() != rank) graph_error::not_a_permutation_of_the_axes();
  Attributes order;
  unsigned seen = 0;
  std::size_t i = 0;
  for (int axis : permutation) {
    const std::size_t from = detail::axis_of(rank, axis);
    if (((seen >> from) & 1U) != 0) graph_error::not_a_permutation_of_the_axes();
    seen |= 1U << from;
    order.ints[i++] = static_cast<std::int32_t>(from);
  }
  return detail::transpose(x, order);
}

/// `x` with its axes in reverse order; for a matrix, its transpose (numpy.transpose).
constexpr Tensor transpose(Tensor x) {
  Attributes order;
  const std::size_t rank = x.shape().rank;
  for (std::size_t i = 0; i < rank; ++i) order.ints[i] = static_cast<std::int32_t>(rank - 1 - i);
  return detail::transpose(x, order);
}

/// `x` with two of its axes exchanged (numpy.swapaxes): swap_axes(x, -1, -2) transposes every matrix [..., m, n].
constexpr Tensor swap_axes(Tensor x, int a, int b) {
  Attributes order;
  const std::size_t rank = x.shape().rank, first = detail::axis_of(rank, a), second = detail::axis_of(rank, b);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = i == first ? second : (i == second ? first : i);
    order.ints[i] = static_cast<std::int32_t>(from);
  }
  return detail::transpose(x, order);
}

namespace detail {
constexpr void gradient_of_transpose(GradientScope& s) {
  if (s.upstream().shape().rank == 0) return s.give(0, s.upstream());  // a scalar upstream represents equal elements
  Attributes back;
  for (std::size_t i = 0; i < s.output().shape().rank; ++i) {
    back.ints[static_cast<std::size_t>(s.attributes().ints[i])] = static_cast<std::int32_t>(i);
  }
  s.give(0, transpose(s.full_upstream(), back));
}
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Dimensions of 1 put in and taken away: views, as reshape is.
#pragma once
#include <crochet/graph/ops/reshape.hpp>

namespace crochet {

namespace detail {
/// The place of an axis among `rank`; negative ones count from the right.
constexpr std::size_t axis_of(std::size_t rank, int axis) {
  const int places = static_cast<int>(rank);
  if (axis < -places || axis >= places) graph_error::no_such_axis(axis);
  return static_cast<std::size_t>(axis < 0 ? axis + places : axis);
}
}  // namespace detail

/// `x` with a dimension of 1 before the given axis, or behind the last one (numpy.expand_dims): -1 puts it at the end.
constexpr Tensor expand_dims(Tensor x, int axis) {
  const Shape from = x.shape();
  const std::size_t at = detail::axis_of(from.rank + 1, axis);
  Shape to;
  for (std::size_t i = 0; i < from.rank; ++i) {
    if (i == at) to.push_back(1);
    to.push_back(from[i]);
  }
  if (at == from.rank) to.push_back(1);
  return reshape(x, to);
}

/// `x` without the given dimension, which must be 1 (numpy.squeeze with one axis).
constexpr Tensor squeeze(Tensor x, int axis) {
  const Shape from = x.shape();
  const std::size_t at = detail::axis_of(from.rank, axis);
  Shape to;
  for (std::size_t i = 0; i < from.rank; ++i) {
    if (i != at) to.push_back(from[i]);
  }
  return reshape(x, to);
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Insertion and removal of dimensions of 1; views, like reshape.
#pragma once
#include <crochet/graph/ops/reshape.hpp>

namespace crochet {

namespace detail {
/// The index of an axis among `rank`; negative ones count from the right.
constexpr std::size_t axis_of(std::size_t rank, int axis) {
  const int places = static_cast<int>(rank);
  if (axis < -places || axis >= places) graph_error::no_such_axis(axis);
  return static_cast<std::size_t>(axis < 0 ? axis + places : axis);
}
}  // namespace detail

/// `x` with a dimension of 1 inserted before the given axis (numpy.expand_dims); -1 appends it.
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

// SPDX-License-Identifier: Apache-2.0
// numpy's broadcasting, for the shape rule of elementwise operations and for their gradients.
#pragma once
#include <crochet/graph/core/shape.hpp>

namespace crochet {

/// The shape of an elementwise result. Dimensions are aligned at the right and must be equal or 1.
constexpr Shape broadcast(const Shape& a, const Shape& b) {
  if (a == b || b.rank == 0) return a;
  Shape out;
  out.rank = a.rank > b.rank ? a.rank : b.rank;
  for (std::size_t i = 0; i < out.rank; ++i) {
    const Extent x = a.from_right(i), y = b.from_right(i);
    if (!(x == y) && !x.is_one() && !y.is_one()) graph_error::shapes_do_not_broadcast();
    out.dims[out.rank - 1 - i] = x.is_one() ? y : x;
  }
  return out;
}

/// The axes of `full` along which `part` is broadcast, as a bit mask.
constexpr unsigned broadcast_axes(const Shape& part, const Shape& full) {
  unsigned axes = 0;
  for (std::size_t i = 0; i < full.rank; ++i) {
    if (part.from_right(full.rank - 1 - i).is_one() && !full[i].is_one()) axes |= 1U << i;
  }
  return axes;
}

}  // namespace crochet

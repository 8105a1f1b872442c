// SPDX-License-Identifier: Apache-2.0
// reshape: the same elements in the same order with another shape. A view: no cost in a step.
#pragma once
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_reshape(GradientScope& s);
}

namespace op {
/// A view. reshape() has checked and set its shape.
inline constexpr Op reshape{"reshape", OpKind::view, nullptr, detail::gradient_of_reshape};
}  // namespace op

/// `x` with another shape. One dimension may be `rest`: it is computed from the others.
inline constexpr std::int64_t rest = -1;

constexpr Tensor reshape(Tensor x, Shape to) {
  Extent known;
  std::size_t open = to.rank;
  for (std::size_t i = 0; i < to.rank; ++i) {
    if (to[i] == Extent(rest)) {
      if (open < to.rank) graph_error::reshape_changes_the_number_of_elements();  // only one dimension can be `rest`
      open = i;
    } else {
      known = known * to[i];
    }
  }
  if (open < to.rank) {
    if (!divides(known, x.shape().size())) graph_error::reshape_changes_the_number_of_elements();
    to[open] = x.shape().size() / known;
  } else if (!(known == x.shape().size())) {
    graph_error::reshape_changes_the_number_of_elements();
  }
  return x.graph->shaped(op::reshape, {x}, to);
}

/// Keeps the first dimension and merges the others: [batch, ...] -> [batch, n].
constexpr Tensor flatten(Tensor x) { return reshape(x, {x.shape()[0], rest}); }

namespace detail {
constexpr void gradient_of_reshape(GradientScope& s) { s.give(0, reshape(s.full_upstream(), s.input(0).shape())); }
}  // namespace detail

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// broadcast_to: repetition in memory, for what a loop cannot repeat on the way.
#pragma once
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/core/builder.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_broadcast_to(GradientScope& s);
}

namespace op {
/// The input repeated to a larger shape, which broadcast_to() has checked and set.
inline constexpr Op broadcast_to{"broadcast_to", OpKind::kernel, nullptr, detail::gradient_of_broadcast_to};
}  // namespace op

/// `x` repeated to a larger shape, by numpy's rule.
constexpr Tensor broadcast_to(Tensor x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!(broadcast(x.shape(), shape) == shape)) graph_error::shapes_do_not_broadcast();
  return x.graph->shaped(op::broadcast_to, {x}, shape);
}

}  // namespace crochet

// The scope uses broadcast_to, whose gradient needs the scope: whichever is included first, both are complete.
#include <crochet/graph/ops/gradient_scope.hpp>  // IWYU pragma: keep

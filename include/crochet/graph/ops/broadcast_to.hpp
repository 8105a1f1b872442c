// SPDX-License-Identifier: Apache-2.0
// broadcast_to: broadcasting in memory, for kernels and loops that cannot broadcast an operand.
#pragma once
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/core/builder.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_broadcast_to(GradientScope& s);
}

namespace op {
/// The input broadcast to a larger shape, which broadcast_to() has checked and set.
inline constexpr Op broadcast_to =
    detail::accepting_bfloat16({"broadcast_to", OpKind::kernel, nullptr, detail::gradient_of_broadcast_to});
}  // namespace op

/// `x` broadcast to a larger shape, by numpy's rule.
constexpr Tensor broadcast_to(Tensor x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!(broadcast(x.shape(), shape) == shape)) graph_error::shapes_do_not_broadcast();
  return x.graph->shaped(op::broadcast_to, {x}, shape);
}

}  // namespace crochet

// Circular dependency: the scope uses broadcast_to, whose gradient needs the scope. This include completes both.
#include <crochet/graph/ops/gradient_scope.hpp>  // IWYU pragma: keep

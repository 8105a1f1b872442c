// SPDX-License-Identifier: Apache-2.0
// Gradient clipping for `MinimizeOptions::clip`: `minimize(loss, Adam{}, {.clip = ClipByGlobalNorm{1.0}})`. Any
// callable with a `VariableGradients&` parameter can be used.
#pragma once
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/train/compute_gradients.hpp>

namespace crochet {

namespace detail {
/// The factor limit / max(norm, limit), as in TensorFlow: no division by 0, and NaN propagates.
constexpr Tensor scale_for(Tensor norm, double limit) {
  const Tensor most = norm.graph->constant(norm.dtype(), limit);
  return most / maximum(norm, most);
}
/// The same; NaN if the norm is infinite. A factor of 0 would hide gradients that are too large for their type.
constexpr Tensor finite_scale_for(Tensor norm, double limit) { return scale_for(norm, limit) + (norm - norm); }
constexpr void want_positive(double limit) {
  if (!(limit > 0)) graph_error::gradients_are_clipped_to_a_positive_limit();
}
}  // namespace detail

/// sqrt(sum x^2) over all elements, a scalar.
constexpr Tensor norm(Tensor x) { return sqrt(detail::sum_of_squares(x)); }

/// The norm of all gradients as one vector, a scalar of the first one's element type.
constexpr Tensor global_norm(const VariableGradients& gradients) {
  Tensor sum{}, of_rank{};  // of_rank: of parts, which are summed over ranks once
  for (const VariableGradient& v : gradients) {
    Tensor& to = detail::is_part_of_rank(v.gradient) ? of_rank : sum;
    const Tensor squares = reduce_sum(square(v.gradient));
    to = to.id < 0 ? squares : to + cast(squares, to.dtype());
  }
  if (of_rank.id < 0) return sqrt(sum);
  const Tensor of_all = sum_over_ranks(of_rank);
  return sqrt(sum.id < 0 ? of_all : sum + cast(of_all, sum.dtype()));
}

/// Clips every element to [-limit, limit]. NaN propagates.
struct ClipByValue {
  double limit = 1;
  constexpr void operator()(VariableGradients& gradients) const {
    detail::want_positive(limit);
    for (VariableGradient& v : gradients) v.gradient = clip(v.gradient, -limit, limit);
  }
};

/// Scales each variable's gradient to the norm `limit` if its norm is greater. Finite elements of a gradient whose norm
/// is infinite become 0. TensorFlow's clip_by_norm.
struct ClipByNorm {
  double limit = 1;
  constexpr void operator()(VariableGradients& gradients) const {
    detail::want_positive(limit);
    for (VariableGradient& v : gradients) v.gradient = v.gradient * detail::scale_for(norm(v.gradient), limit);
  }
};

/// Scales all gradients by a common factor so that their global norm is at most `limit`. If it is infinite or NaN all
/// gradients become NaN. The norm before clipping is the value "global_norm", if that name is free. Source: Pascanu et
/// al., ICML 2013, algorithm 1; TensorFlow's clip_by_global_norm.
struct ClipByGlobalNorm {
  double limit = 1;
  constexpr void operator()(VariableGradients& gradients) const {
    detail::want_positive(limit);
    const Tensor length = global_norm(gradients);
    if (!length.graph->has("global_norm")) length.graph->name("global_norm", length);
    const Tensor scale = detail::finite_scale_for(length, limit);
    for (VariableGradient& v : gradients) v.gradient = v.gradient * cast(scale, v.gradient.dtype());
  }
};

}  // namespace crochet

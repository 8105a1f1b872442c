// SPDX-License-Identifier: Apache-2.0
// A user's own elementwise operation. Fusion, threads, vectorization and loop tails need no code of its own.
#pragma once
#include <crochet/executor/cpu.hpp>

namespace custom {

namespace cr = crochet;

/// The shape rule: misuse is a compile error at the model's line.
constexpr cr::TypedShape infer_soft_shrink(const cr::OpInputs& in) {
  in.want_floating(0);
  in.want_same_type(0, 1);
  return {in[0].dtype, broadcast(in.shape(0), in.shape(1))};
}

/// Where |x| > t: 1 to x, -sign(x) to t; elsewhere 0. The gradient consists of operations too, so it is fused.
constexpr void gradient_of_soft_shrink(cr::GradientScope& s) {
  const cr::Tensor x = s.input(0), u = s.upstream(), passes = greater(abs(x), s.input(1));
  s.give(0, select(passes, u, s.zero()));
  if (s.wants(1)) s.give(1, select(passes, select(less(x, 0), u, -u), s.zero()));
}

/// inputs = {x, threshold}, which broadcast. The object's address is the operation's identity.
inline constexpr cr::Op soft_shrink_op{"soft_shrink", cr::OpKind::elementwise, infer_soft_shrink,
                                       gradient_of_soft_shrink};

/// Moves x by `threshold` towards 0, but not beyond: sign(x) max(|x| - threshold, 0). Donoho 1995, eq. 1.
constexpr cr::Tensor soft_shrink(cr::Tensor x, cr::Tensor threshold) {
  return x.graph->apply(soft_shrink_op, x, threshold);
}
constexpr cr::Tensor soft_shrink(cr::Tensor x, double threshold) {
  return soft_shrink(x, x.graph->constant(x.dtype(), threshold));
}

}  // namespace custom

/// The computation: one function for vectors (V is a register of T) and for single elements (V is T). x minus x clipped
/// to the threshold: a NaN remains NaN.
template <>
struct crochet::Elementwise<&custom::soft_shrink_op> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& x, const V& threshold) {
    const V low = -threshold;
    return x - ((x > threshold) ? threshold : ((x < low) ? low : x));
  }
};

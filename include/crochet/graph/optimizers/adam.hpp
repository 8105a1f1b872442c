// SPDX-License-Identifier: Apache-2.0
// Adam.
#pragma once
#include <crochet/graph/train/slots.hpp>

namespace crochet {

namespace detail {
/// Scalars shared by all variables, which saves one node per variable and use.
struct AdamScalars {
  SharedScalar rate;          ///< includes the correction for moments that start at zero
  SharedScalar part1, part2;  ///< 1 - beta1, 1 - beta2
  SharedScalar epsilon;
};
/// rate * m / (sqrt(v) + epsilon), with both moments updated by this step's gradient. Slots: w + suffix, w + suffix_1.
constexpr Tensor adam_step(Tensor w, Tensor gradient, std::string_view slot, std::string_view slot1,
                           const AdamScalars& s) {
  const DType type = w.dtype();
  const Tensor m = moving_average(slot_variable(w, slot), gradient, s.part1.as(type));
  const Tensor v = moving_average(slot_variable(w, slot1), square(gradient), s.part2.as(type));
  return m / (sqrt(v) + s.epsilon.as(type)) * s.rate.as(type);
}
}  // namespace detail

/// Adam with the bias corrections folded into the rate, as in TensorFlow:
///   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2                       slots "w/Adam", "w/Adam_1"
///   w <- w - rate sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon)
/// Source: Kingma and Ba, ICLR 2015, end of section 2 (epsilon is called epsilon hat there). The powers b^t are kept in
/// double.
struct Adam {
  Rate learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  constexpr detail::AdamScalars begin(GraphBuilder& g, std::string_view scope) const {
    const Tensor p1 = detail::power_variable(g, scope, "beta1_power", beta1);
    const Tensor p2 = detail::power_variable(g, scope, "beta2_power", beta2);
    const Tensor rate = sqrt(1 - p2) * detail::learning_rate(g, scope, learning_rate) / (1 - p1);
    return {rate, g.constant(1 - beta1), g.constant(1 - beta2), g.constant(epsilon)};
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const detail::AdamScalars& s) const {
    return w.graph->assign(w, w - detail::adam_step(w, gradient, "/Adam", "/Adam_1", s));
  }
};

}  // namespace crochet

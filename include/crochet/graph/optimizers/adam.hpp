// SPDX-License-Identifier: Apache-2.0
// Adam.
#pragma once
#include <crochet/graph/optimizers/slots.hpp>

namespace crochet {

namespace detail {
/// m / (sqrt(v) + epsilon), with both moments moved on by this step's gradient. Slots: w + suffix, w + suffix_1.
constexpr Tensor adam_direction(Tensor w, Tensor gradient, std::string_view slot, std::string_view slot1, double beta1,
                                double beta2, Tensor epsilon) {
  const Tensor m = moving_average(slot_variable(w, slot), gradient, beta1);
  const Tensor v = moving_average(slot_variable(w, slot1), square(gradient), beta2);
  return m / (sqrt(v) + epsilon);
}
}  // namespace detail

/// Adam with the bias corrections folded into the rate, as TensorFlow does:
///   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2                       slots "w/Adam", "w/Adam_1"
///   w <- w - rate sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon)
/// Kingma and Ba, ICLR 2015, end of section 2 (epsilon there is called epsilon hat). The powers b^t are kept in double.
struct Adam {
  Rate learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  /// The corrected rate.
  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    const Tensor p1 = detail::power_variable(g, scope, "beta1_power", beta1);
    const Tensor p2 = detail::power_variable(g, scope, "beta2_power", beta2);
    return sqrt(1 - p2) * detail::learning_rate(g, scope, learning_rate) / (1 - p1);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    const Tensor hat = w.graph->constant(w.dtype(), epsilon);
    const Tensor direction = detail::adam_direction(w, gradient, "/Adam", "/Adam_1", beta1, beta2, hat);
    return w.graph->assign(w, w - direction * rate.as(w.dtype()));
  }
};

}  // namespace crochet

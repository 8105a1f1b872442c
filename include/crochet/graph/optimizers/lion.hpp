// SPDX-License-Identifier: Apache-2.0
// Lion.
#pragma once
#include <crochet/graph/optimizers/adamw.hpp>

namespace crochet {

/// Lion: steps of constant size in the direction of a sign, with decoupled weight decay.
///   w <- w - rate * (sign(b1 m + (1 - b1) g) + weight_decay * w);  m <- b2 m + (1 - b2) g     slot "w/Lion"
/// Source: Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, algorithm 2.
struct Lion {
  Rate learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  /// Whether a variable decays; called once for each variable.
  bool (*decays)(Tensor variable) = every_variable;

  struct Shared {
    SharedScalar rate, kept;  ///< kept: the fraction of w that remains after decay
  };
  constexpr Shared begin(GraphBuilder& g, std::string_view scope) const {
    const Tensor rate = detail::learning_rate(g, scope, learning_rate);
    return {rate, 1 - rate * weight_decay};
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const Shared& s) const {
    const Tensor m = slot_variable(w, "/Lion"), rate = s.rate.as(w.dtype());
    const Tensor c = m + (gradient - m) * (1 - beta1);
    const Tensor kept = weight_decay != 0 && decays(whole_variable(w)) ? w * s.kept.as(w.dtype()) : w;
    return w.graph->apply(op::group, w.graph->assign(w, kept - sign(c) * rate),
                          detail::moving_average(m, gradient, beta2));
  }
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// AdamW.
#pragma once
#include <crochet/graph/optimizers/adam.hpp>

namespace crochet {

/// Predicates for the variables that AdamW and Lion decay.
constexpr bool every_variable(Tensor /*variable*/) { return true; }
/// Kernels and embeddings, but not biases and scales of norms: the usual choice for transformers.
constexpr bool only_matrices(Tensor variable) { return variable.shape().rank >= 2; }

/// Adam with decoupled weight decay, as in PyTorch:
///   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2                       slots "w/AdamW", "w/AdamW_1"
///   w <- w - rate * weight_decay * w - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
/// Source: Loshchilov and Hutter, ICLR 2019, algorithm 2, with the schedule as the rate. The corrections are folded
/// into the rate and into epsilon. weight_decay is the fraction of w removed per step and unit of the rate.
struct AdamW {
  Rate learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  /// Whether a variable decays; called once for each variable.
  bool (*decays)(Tensor variable) = every_variable;

  struct Shared {
    detail::AdamScalars adam;
    SharedScalar kept;  ///< the fraction of w that remains after decay
  };
  constexpr Shared begin(GraphBuilder& g, std::string_view scope) const {
    const Tensor p1 = detail::power_variable(g, scope, "beta1_power", beta1);
    const Tensor p2 = detail::power_variable(g, scope, "beta2_power", beta2);
    const Tensor rate = detail::learning_rate(g, scope, learning_rate), root = sqrt(1 - p2);
    return {{rate * root / (1 - p1), g.constant(1 - beta1), g.constant(1 - beta2), root * epsilon},
            1 - rate * weight_decay};
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const Shared& s) const {
    const Tensor kept = weight_decay != 0 && decays(whole_variable(w)) ? w * s.kept.as(w.dtype()) : w;
    return w.graph->assign(w, kept - detail::adam_step(w, gradient, "/AdamW", "/AdamW_1", s.adam));
  }
};

}  // namespace crochet

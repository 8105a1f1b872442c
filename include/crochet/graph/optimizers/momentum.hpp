// SPDX-License-Identifier: Apache-2.0
// Momentum and Nesterov.
#pragma once
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// Momentum (heavy ball), or Nesterov's accelerated gradient, as TensorFlow's MomentumOptimizer and PyTorch's SGD:
///   a <- momentum a + g                                slot "w/Momentum"
///   w <- w - rate * a
///   w <- w - rate * (g + momentum a)                   with `nesterov`
/// Source: Polyak 1964; Sutskever et al., ICML 2013, section 2, with the rate outside the sum.
struct Momentum {
  Rate learning_rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;

  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    return detail::learning_rate(g, scope, learning_rate);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    const Tensor slot = slot_variable(w, "/Momentum");
    const Tensor a = w.graph->assign(slot, slot * momentum + gradient);
    const Tensor direction = nesterov ? gradient + a * momentum : a;
    return w.graph->assign(w, w - direction * rate.as(w.dtype()));
  }
};

/// Momentum with `nesterov`, under its usual name.
struct Nesterov {
  Rate learning_rate = 0.01;
  double momentum = 0.9;

  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    return detail::learning_rate(g, scope, learning_rate);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    return Momentum{.momentum = momentum, .nesterov = true}.update(w, gradient, rate);
  }
};

}  // namespace crochet

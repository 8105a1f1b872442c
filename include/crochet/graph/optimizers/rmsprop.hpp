// SPDX-License-Identifier: Apache-2.0
// RMSProp.
#pragma once
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// RMSProp as TensorFlow's RMSPropOptimizer: epsilon inside the root, the rate inside the momentum.
///   s <- decay s + (1 - decay) g^2                     slot "w/RMSProp", initialised with ones
///   c <- decay c + (1 - decay) g                       with `centered`: slot "w/RMSProp_1", otherwise c = 0
///   u <- momentum u + rate * g / sqrt(s - c^2 + epsilon)   with momentum: the next slot, otherwise only the last term
///   w <- w - u
/// Source: Tieleman and Hinton 2012, lecture 6.5; centered: Graves 2013, eq. 38 to 41. Slots that are not needed are
/// not created.
struct RMSProp {
  Rate learning_rate = 1e-3;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
  bool centered = false;

  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    return detail::learning_rate(g, scope, learning_rate);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    GraphBuilder& g = *w.graph;
    Tensor s = detail::moving_average(slot_variable(w, "/RMSProp", ones()), square(gradient), decay);
    if (centered) s = s - square(detail::moving_average(slot_variable(w, "/RMSProp_1"), gradient, decay));
    Tensor u = gradient * rate.as(w.dtype()) / sqrt(s + epsilon);
    if (momentum != 0) {
      const Tensor slot = slot_variable(w, centered ? "/RMSProp_2" : "/RMSProp_1");
      u = g.assign(slot, slot * momentum + u);
    }
    return g.assign(w, w - u);
  }
};

}  // namespace crochet

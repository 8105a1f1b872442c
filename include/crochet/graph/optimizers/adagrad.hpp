// SPDX-License-Identifier: Apache-2.0
// Adagrad.
#pragma once
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// Adagrad, as in TensorFlow:
///   a <- a + g^2                                       slot "w/Adagrad", initialised with initial_accumulator
///   w <- w - rate * g / (sqrt(a) + epsilon)
/// Source: Duchi, Hazan and Singer, JMLR 2011, section 1.1, with the diagonal of G.
struct Adagrad {
  Rate learning_rate = 1e-3;
  double initial_accumulator = 0.1;
  double epsilon = 1e-7;

  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    return detail::learning_rate(g, scope, learning_rate);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    const Tensor slot = slot_variable(w, "/Adagrad", constant_initializer(initial_accumulator));
    const Tensor a = w.graph->assign(slot, slot + square(gradient));
    return w.graph->assign(w, w - gradient * rate.as(w.dtype()) / (sqrt(a) + epsilon));
  }
};

}  // namespace crochet

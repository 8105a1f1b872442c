// SPDX-License-Identifier: Apache-2.0
// SGD.
#pragma once
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// Gradient descent: w <- w - rate * g. TensorFlow's GradientDescentOptimizer.
struct SGD {
  Rate learning_rate = 0.01;

  constexpr SharedScalar begin(GraphBuilder& g, std::string_view scope) const {
    return detail::learning_rate(g, scope, learning_rate);
  }
  constexpr Tensor update(Tensor w, Tensor gradient, const SharedScalar& rate) const {
    return w.graph->assign(w, w - gradient * rate.as(w.dtype()));
  }
};

}  // namespace crochet

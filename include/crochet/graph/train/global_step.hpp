// SPDX-License-Identifier: Apache-2.0
// global_step: the count of training steps.
#pragma once
#include <crochet/graph/core/builder.hpp>

namespace crochet {

/// The number of training steps, int64, with TensorFlow's name. Created on first use.
constexpr Tensor global_step(GraphBuilder& g) {
  if (g.has("global_step")) return g["global_step"];
  return g.variable<std::int64_t>("global_step", {}, zeros(), false);
}

}  // namespace crochet

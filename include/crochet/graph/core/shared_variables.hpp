// SPDX-License-Identifier: Apache-2.0
// SharedVariables: two networks of one model that have the same variables, as for training and for inference.
#pragma once
#include <crochet/graph/core/builder.hpp>

namespace crochet {

/// RAII scope: while it lives, variable() returns the existing variable of the same name, so that a second network
/// shares the variables of the first.
///   auto loss = sparse_softmax_cross_entropy(network(images, true), labels);
///   const SharedVariables same(g);
///   g.name("logits", network(images, false));     // without dropout, with moving averages
class SharedVariables {
 public:
  constexpr explicit SharedVariables(GraphBuilder& g) : g_(g), before_(g.share_variables(true)) {}
  constexpr ~SharedVariables() { g_.share_variables(before_); }
  SharedVariables(const SharedVariables&) = delete;
  SharedVariables& operator=(const SharedVariables&) = delete;

 private:
  GraphBuilder& g_;
  bool before_;
};

}  // namespace crochet

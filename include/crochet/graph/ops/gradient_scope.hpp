// SPDX-License-Identifier: Apache-2.0
// The argument of an operation's gradient rule: the node's inputs and output, the upstream gradient, and a function to
// add to the gradients of the inputs.
#pragma once

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/broadcast_to.hpp>

namespace crochet {

/// A gradient that a rule has added to one input.
struct Given {
  int input;
  int gradient;
};

class GradientScope {
 public:
  constexpr GradientScope(GraphBuilder& graph, int node, int upstream, const ConstexprVector<char>& needed,
                          ConstexprVector<Given>& given)
      : graph_(graph), node_(node), upstream_(upstream), needed_(needed), given_(given) {
    output_ = node;
    for (std::size_t i = 0; i < max_inputs; ++i) inputs_[i] = graph.node(node).inputs[i];
  }
  /// `stand_in(i)`: the node that currently has the value of node i.
  template <class StandIn>
  constexpr void read(const StandIn& stand_in) {
    output_ = stand_in(output_);
    for (std::size_t i = 0; i < max_inputs && inputs_[i] >= 0; ++i) inputs_[i] = stand_in(inputs_[i]);
  }

  constexpr GraphBuilder& graph() const { return graph_; }
  constexpr Tensor input(std::size_t i) const { return {&graph_, inputs_[i]}; }
  constexpr Tensor output() const { return {&graph_, output_}; }
  constexpr Attributes attributes() const { return graph_.node(node_).attributes; }

  /// d loss / d output. Its shape may be smaller than the output's; it then broadcasts to it.
  constexpr Tensor upstream() const { return {&graph_, upstream_}; }
  /// upstream() at the full shape of the output, for rules that pass it to a kernel.
  constexpr Tensor full_upstream() const { return broadcast_to(upstream(), output().shape()); }
  /// 0 in the gradient's element type.
  constexpr Tensor zero() const { return graph_.constant(upstream().dtype(), 0); }

  /// Whether the gradient of the input is needed. A rule may skip the computation if not; give() then has no effect.
  constexpr bool wants(std::size_t i) const { return needed_[static_cast<std::size_t>(id(i))] != 0; }
  /// Adds to the input's gradient. `g` may broadcast to the input's shape. If the input itself was broadcast, `g` may
  /// have the larger shape and is summed over the broadcast dimensions.
  constexpr void give(std::size_t i, Tensor g) {
    if (wants(i)) given_.push_back({id(i), g.id});
  }

 private:
  constexpr int id(std::size_t i) const { return graph_.node(node_).inputs[i]; }

  GraphBuilder& graph_;
  int node_, upstream_;
  int output_ = -1, inputs_[max_inputs]{};
  const ConstexprVector<char>& needed_;
  ConstexprVector<Given>& given_;
};

namespace detail {
constexpr void gradient_of_broadcast_to(GradientScope& s) { s.give(0, s.upstream()); }
}  // namespace detail

}  // namespace crochet

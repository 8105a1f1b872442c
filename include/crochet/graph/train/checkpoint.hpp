// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing: values between two marked ones are recomputed in the backward pass instead of being kept from
// the forward pass. Chen, Xu, Zhang and Guestrin, arXiv:1604.06174. The operations and their inputs are the same, so
// gradients are equal bit by bit if the backend's products are reproducible.
#pragma once

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_same(const OpInputs& in) { return in[0]; }
constexpr void gradient_of_checkpoint(GradientScope& s) { s.give(0, s.upstream()); }
}  // namespace detail

namespace op {
/// The value itself; gradients() keeps it.
inline constexpr Op checkpoint{"checkpoint", OpKind::view, detail::infer_same, detail::gradient_of_checkpoint};
/// inputs = {value, gradient}: the value, for recomputation after the gradient has been computed. It does not depend on
/// the second input.
inline constexpr Op recompute_from{"recompute_from", OpKind::view, detail::infer_same, detail::gradient_of_checkpoint};
}  // namespace op

/// Marks `x` as a checkpoint and returns it.
/// - Of the values needed by gradients of a later loss, only marked ones, feeds, and those after the last mark are
///   kept.
/// - All others are recomputed from the previous mark when the backward pass reaches the next mark.
/// - Values that are read across a mark (a skip connection into the middle of a block) are kept as well.
/// - Mark the inputs of the blocks of a deep model: with about sqrt(n) marks, n layers need the memory of about 2
///   sqrt(n) layers, at the cost of one more forward pass.
constexpr Tensor checkpoint(Tensor x) { return x.graph->apply(op::checkpoint, x); }

namespace detail {
/// The recomputed copies of nodes in the backward pass.
class Recomputer {
 public:
  constexpr Recomputer(GraphBuilder& g, int last) : g_(g), again_(static_cast<std::size_t>(last) + 1, -1) {
    for (int i = 0; i <= last; ++i) {
      if (g.node(i).is(op::checkpoint)) marks_.push_back(i);
    }
  }

  /// Called before the backward pass visits node i, whose upstream is `gradient`. At a mark: recomputes the nodes
  /// before it.
  constexpr void enter(int i, int gradient) {
    if (marks_.empty() || marks_.back() < i) return;
    marks_.pop_back();
    const int from = marks_.empty() ? 0 : marks_.back() + 1;
    gradient_ = gradient;
    held_.assign(again_.size(), -1);
    const int kept = g_.node(i).inputs[0];  // the mark is a view of this node
    for (int k = from; k < i; ++k) {
      if (k != kept && is_computed(k)) again_[static_cast<std::size_t>(k)] = copy(k, from);
    }
  }

  /// The node that the backward pass reads instead of node i.
  constexpr int operator()(int i) const {
    const int copy = again_[static_cast<std::size_t>(i)];
    return copy < 0 ? i : copy;
  }

 private:
  constexpr bool is_computed(int i) const {
    const OpKind kind = g_.node(i).op->kind;
    return kind == OpKind::elementwise || kind == OpKind::kernel || kind == OpKind::view;
  }

  constexpr int copy(int i, int from) {
    Node n = g_.node(i);
    n.name = -1;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const int in = n.inputs[k];
      n.inputs[k] = in >= from && (*this)(in) != in ? (*this)(in) : held(in);
    }
    return g_.repeat(n, i).id;
  }
  /// An input that is kept. It is wrapped in recompute_from: otherwise common-subexpression elimination would replace
  /// the copy by its original.
  constexpr int held(int i) {
    const Node& n = g_.node(i);
    if (!is_computed(i) && !n.is(op::placeholder)) return i;
    int& id = held_[static_cast<std::size_t>(i)];
    if (id < 0) id = g_.apply(op::recompute_from, Tensor{&g_, i}, Tensor{&g_, gradient_}).id;
    return id;
  }

  GraphBuilder& g_;
  ConstexprVector<int> marks_;  ///< those not reached yet
  ConstexprVector<int> again_;  ///< by node: its copy
  ConstexprVector<int> held_;   ///< by node: its replacement as an input of copies
  int gradient_ = -1;
};
}  // namespace detail

}  // namespace crochet

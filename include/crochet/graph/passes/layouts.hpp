// SPDX-License-Identifier: Apache-2.0
// choose_layouts: selects the variables stored in panels. These are the right operands of products, and the variables
// tied to them by the elementwise operations of an update (an optimizer's moments), unless a reader does not support
// panels. The choice depends on the whole graph only, so it is the same for every demand.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

namespace detail {
/// Union-find: sets of nodes tied together by elementwise operations and assignments.
template <class Nodes>
class LayoutChooser {
 public:
  constexpr explicit LayoutChooser(Nodes& nodes)
      : nodes_(nodes), parent_(nodes.size(), 0), wanted_(nodes.size(), 0), refused_(nodes.size(), 0) {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  }

  constexpr void run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) look_at(static_cast<int>(i));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].is(op::variable) || !fits(nodes_[i]) || refused_[i] != 0) continue;
      const auto set = at(find(static_cast<int>(i)));
      if (wanted_[set] > 0) nodes_[i].layout = Layout::panels;
    }
    for (Node& n : nodes_) {
      if (n.is(op::assign)) n.layout = nodes_[at(n.inputs[0])].layout;
    }
  }

 private:
  /// Panels of a matrix with few columns would be mostly padding.
  static constexpr bool fits(const Node& n) {
    constexpr std::int64_t few = 4;
    return is_floating(computed_as(n.dtype)) && n.shape.rank >= 2 && n.shape.size().is_static() &&
           n.shape.size().factor > 0 && n.shape[n.shape.rank - 1].factor >= few;
  }

  constexpr void look_at(int i) {
    const Node& n = nodes_[at(i)];
    const bool ties = n.op->kind == OpKind::elementwise || n.op->kind == OpKind::assign;
    for (std::size_t k = 0; k < max_inputs; ++k) {
      const int in = n.inputs[k];
      if (in < 0 || n.op->kind == OpKind::group) continue;
      if (!ties) {
        read_by_kernel(variable_of(in), ((n.op->panel_inputs >> k) & 1U) != 0);
      } else if (nodes_[at(in)].shape == n.shape) {
        join(i, in);
      } else {
        refuse(in);
        // The loop must be able to run over rows of the last dimension.
        const SplitPoints cuts = cuts_for(nodes_[at(in)].shape, n.shape);
        if (n.shape.rank == 0 || ((cuts >> (n.shape.rank - 1)) & 1U) == 0) forbid(i);
      }
    }
  }
  /// A kernel that reads the value of an assignment reads the variable.
  constexpr int variable_of(int i) const { return nodes_[at(i)].is(op::assign) ? nodes_[at(i)].inputs[0] : i; }
  constexpr void read_by_kernel(int i, bool panels) {
    if (panels && fits(nodes_[at(i)])) {
      if (wanted_[at(find(i))] == 0) wanted_[at(find(i))] = 1;
    } else {
      refuse(i);
    }
  }
  constexpr void refuse(int i) { refused_[at(variable_of(i))] = 1; }
  constexpr void forbid(int i) { wanted_[at(find(i))] = -1; }

  constexpr int find(int i) {
    while (parent_[at(i)] != i) {
      parent_[at(i)] = parent_[at(parent_[at(i)])];
      i = parent_[at(i)];
    }
    return i;
  }
  constexpr void join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    const bool never = wanted_[at(a)] < 0 || wanted_[at(b)] < 0;
    const bool some = wanted_[at(a)] > 0 || wanted_[at(b)] > 0;
    parent_[at(a)] = b;
    wanted_[at(b)] = static_cast<signed char>(never ? -1 : (some ? 1 : 0));
  }

  Nodes& nodes_;
  ConstexprVector<int> parent_;
  ConstexprVector<signed char> wanted_;  ///< by set: 1 if a product prefers panels, -1 if panels are impossible
  ConstexprVector<char> refused_;        ///< by variable
};
}  // namespace detail

/// Sets the layout of every variable and every assignment. Works for Graph and FrozenGraph.
template <class G>
constexpr G with_layouts(G graph) {
  detail::LayoutChooser(graph.nodes).run();
  return graph;
}

/// The cuts of `full` at which a loop can access `part`: panels can only be accessed by rows of the last dimension.
constexpr SplitPoints cuts_for(const Node& part, const Shape& full) {
  const SplitPoints cuts = cuts_for(part.shape, full);
  return part.layout == Layout::panels ? cuts & (1U << (full.rank - 1)) : cuts;
}

}  // namespace crochet

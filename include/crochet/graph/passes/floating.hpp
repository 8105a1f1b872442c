// SPDX-License-Identifier: Apache-2.0
// Floating nodes: elementwise nodes that are computed from sources only. They belong to no group of a schedule: each
// loop that reads one computes it again (fuse.hpp).
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/cost.hpp>
#include <crochet/graph/passes/layouts.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet::detail {

/// The floating nodes of a subgraph: elementwise, on sources and floating nodes of their own shape, if one loop can
/// access everything that they are computed from. Excluded is a node with several readers that depends on a variable
/// assigned in this plan: a later reader could come after the assignment.
class FloatingNodes {
 public:
  constexpr explicit FloatingNodes(const SubgraphView& g) : nodes_(g.nodes.data()), blocks_(g.nodes.size()) {
    count_readers(g);
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
      Behind& mine = of_[i];
      mine.changes = mine.assigned;
      if (nodes_[i].op->kind != OpKind::elementwise) continue;
      mine.ready = operands_are_ready(i) && mine.cuts != 0;
      mine.floats = mine.ready && operands_float(i) && (!mine.changes || mine.readers < 2);
    }
  }

  constexpr bool floats(int i) const { return of_[i].floats; }
  /// Whether node i is computed from sources only: it floats, or only its readers are the reason why it does not.
  constexpr bool is_ready(int i) const { return of_[i].ready; }
  /// Whether node i floats and depends on a variable assigned in this plan: it must be computed before the assignment.
  constexpr bool precedes_assignment(int i) const { return of_[i].floats && of_[i].changes; }

  /// The cost of recomputing node i with all floating nodes that it depends on (see cost_of); 0 if it does not float.
  constexpr int cost(int i) {
    constexpr int enough = 1 << 16;  // bound: a node that is read twice is counted twice, and so on
    int& sum = of_[i].cost;
    if (!of_[i].floats || sum > 0) return sum;
    sum = cost_of(*nodes_[i].op);
    for (int in : nodes_[i].inputs) {
      if (in >= 0 && sum < enough) sum += cost(in);
    }
    return sum;
  }

 private:
  /// What decides whether a node floats.
  struct Behind {
    int readers = 0;
    bool assigned = false;
    bool changes = false;  ///< it, or a node that it depends on, is assigned
    bool ready = false;    ///< it is computed from sources and ready nodes of its shape
    bool floats = false;
    SplitPoints cuts = ~0U;  ///< if it floats: common cuts of all nodes that it is computed from
    int cost = 0;            ///< the result of cost(), once it is computed
  };

  constexpr void count_readers(const SubgraphView& g) {
    for (const Node *n = nodes_, *end = nodes_ + g.nodes.size(); n != end; ++n) {
      if (n->op->kind == OpKind::assign) of_[n->inputs[0]].assigned = true;
      for (std::size_t k = 0; k < max_inputs && n->inputs[k] >= 0; ++k) ++of_[n->inputs[k]].readers;
    }
    for (int f : g.fetched) ++of_[f].readers;
  }
  /// Whether each operand of node i is a source, or ready with the shape of i. Sets what of_[i] inherits from them.
  constexpr bool operands_are_ready(int i) {
    const Node& n = nodes_[i];
    Behind& mine = of_[i];
    bool ready = true;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const int in = n.inputs[k];
      mine.changes = mine.changes || of_[in].changes;
      // Most nodes depend on products and other kernels; for those there is nothing to do.
      ready = ready && (nodes_[in].op->kind == OpKind::source || of_[in].ready);
      ready = ready && (!of_[in].ready || nodes_[in].shape == n.shape);
      if (ready) mine.cuts &= cuts_for(nodes_[in], n.shape) & of_[in].cuts;
    }
    return ready;
  }
  /// Whether each operand of a ready node is a source or floats.
  constexpr bool operands_float(int i) const {
    for (int in : nodes_[i].inputs) {
      if (in >= 0 && nodes_[in].op->kind != OpKind::source && !of_[in].floats) return false;
    }
    return true;
  }

  const Node* nodes_;
  Block<Behind> blocks_;
  Behind* const of_ = blocks_.data;
};

}  // namespace crochet::detail

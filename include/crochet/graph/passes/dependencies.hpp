// SPDX-License-Identifier: Apache-2.0
// find_dependencies: which groups of a schedule wait for which, for passes that reorder them.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/passes/schedule.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// By group of a schedule.
struct Dependencies {
  ConstexprVector<ConstexprVector<int>> followers;  ///< the groups that wait for it; one may be in the list twice
  ConstexprVector<int> waits_for;                   ///< the number of lists that contain it
};

namespace detail {
class DependencyFinder {
 public:
  constexpr DependencyFinder(const SubgraphView& g, const Schedule& s)
      : nodes_(g.nodes.data()), s_(s), home_(s.home.data()), base_(s.base.data()), uses_(g.nodes.size()) {
    found_.followers.resize(s.groups.size());
    found_.waits_for.assign(s.groups.size(), 0);
  }

  constexpr Dependencies run() {
    const auto count = static_cast<int>(s_.groups.size());
    for (int q = 0; q < count; ++q) {
      const Group& group = s_.groups.data()[q];
      if (group.root >= 0) {
        read_inputs(group.root, q);
        keep_order_of_exchanges(*node(group.root).op, q);
      }
      const int* const first = group.nodes.data();
      const int* const last = first + group.nodes.size();
      for (const int* i = first; i != last; ++i) read_inputs(*i, q);
      for (const int* i = first; i != last; ++i) {
        if (node(*i).op->kind == OpKind::assign) assign(uses_.data[node(*i).inputs[0]], q);
      }
    }
    return std::move(found_);
  }

 private:
  /// The uses of a variable at a point of the schedule.
  struct Uses {
    int assigned_by = -1;
    int reader = -1;  ///< index of the latest reading
  };
  struct Reading {
    int group, before;
  };

  constexpr const Node& node(int i) const { return nodes_[i]; }
  constexpr void after(int earlier, int later) {
    if (earlier < 0 || earlier == later) return;
    found_.followers.data()[earlier].push_back(later);
    ++found_.waits_for.data()[later];
  }
  /// Plans of one model exchange in one order, because a rank may run another one, with probes, beside those of other
  /// ranks. Exchanges that wait, beginnings and ends have an order each: their messages have different lanes.
  constexpr void keep_order_of_exchanges(const Op& root, int q) {
    const bool begins = &root == &op::begin_over_ranks, ends = &root == &op::end_over_ranks;
    const bool waits = &root == &op::mean_over_ranks || &root == &op::sum_over_ranks ||
                       &root == &op::scatter_over_ranks || &root == &op::gather_over_ranks;
    if (!begins && !ends && !waits) return;
    int& last = last_exchange_[begins ? 1 : ends ? 2 : 0];
    after(last, q);
    last = q;
  }
  constexpr void read_inputs(int i, int q) {
    const Node& n = node(i);
    for (std::size_t k = n.op->kind == OpKind::assign ? 1 : 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      read(n.inputs[k], q);
    }
  }
  constexpr void read(int i, int q) {
    // A recomputed value waits for the gradient for which it is recomputed.
    for (int v = i; node(v).op->kind == OpKind::view; v = node(v).inputs[0]) {
      const int gradient = node(v).inputs[1] < 0 ? -1 : home_[base_[node(v).inputs[1]]];
      if (gradient <= q) after(gradient, q);  // else a later group stores it, as below
    }
    const int b = base_[i];
    if (home_[b] <= q) after(home_[b], q);  // else group q computes the value for itself, and a later one stores it
    const Node& n = node(b);
    if (n.op->kind != OpKind::assign && n.op->kind != OpKind::source) return;
    Uses& uses = uses_.data[n.op->kind == OpKind::assign ? n.inputs[0] : b];
    after(uses.assigned_by, q);
    readings_.push_back({q, uses.reader});
    uses.reader = static_cast<int>(readings_.size()) - 1;
  }
  constexpr void assign(Uses& uses, int q) {
    after(uses.assigned_by, q);
    for (int r = uses.reader; r >= 0; r = readings_.data()[r].before) after(readings_.data()[r].group, q);
    uses = {q, -1};
  }

  const Node* nodes_;
  const Schedule& s_;
  const int *home_, *base_;
  Dependencies found_;
  int last_exchange_[3] = {-1, -1, -1};
  Block<Uses> uses_;  ///< by variable
  ConstexprVector<Reading> readings_;
};
}  // namespace detail

constexpr Dependencies find_dependencies(const SubgraphView& g, const Schedule& s) {
  return detail::DependencyFinder(g, s).run();
}

/// The schedule with its groups in another order: order[k] is the group that comes at place k.
constexpr Schedule permuted(const Schedule& s, const ConstexprVector<int>& order) {
  Schedule to = s;
  ConstexprVector<int> place(order.size(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[detail::at(order[k])] = static_cast<int>(k);
    to.groups[k] = s.groups[detail::at(order[k])];
  }
  for (int& home : to.home) home = home < 0 ? home : place[detail::at(home)];
  return to;
}

}  // namespace crochet

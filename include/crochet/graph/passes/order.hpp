// SPDX-License-Identifier: Apache-2.0
// order_by_items: reorders the groups so that those that can run item by item are adjacent, which makes regions longer.
// In a backward pass they are separated by the products for weights, which need the whole batch. Dependencies are kept.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/regions.hpp>

namespace crochet {

namespace detail {
class Orderer {
 public:
  constexpr Orderer(const SubgraphView& g, const Schedule& s)
      : nodes_(g.nodes.data()),
        s_(s),
        home_(s.home.data()),
        base_(s.base.data()),
        followers_(s.groups.size()),
        waits_for_(s.groups.size(), 0),
        uses_(g.nodes.size()) {}

  constexpr Schedule run(const char* items) {
    find_dependencies();
    return permuted(order(items));
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
    followers_.data()[earlier].push_back(later);
    ++waits_for_.data()[later];
  }

  constexpr void find_dependencies() {
    const auto count = static_cast<int>(s_.groups.size());
    for (int q = 0; q < count; ++q) {
      const Group& group = s_.groups.data()[q];
      if (group.root >= 0) read_inputs(group.root, q);
      const int* const first = group.nodes.data();
      const int* const last = first + group.nodes.size();
      for (const int* i = first; i != last; ++i) read_inputs(*i, q);
      for (const int* i = first; i != last; ++i) {
        if (node(*i).op->kind == OpKind::assign) assign(uses_.data[node(*i).inputs[0]], q);
      }
    }
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
      if (node(v).inputs[1] >= 0) after(home_[base_[node(v).inputs[1]]], q);
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

  /// Alternates between the two kinds: all ready groups of one kind, in their old order, then all of the other.
  constexpr ConstexprVector<int> order(const char* items) {
    // Deferring a group extends lifetimes, so after this many item-wise groups a ready group of the other kind runs.
    constexpr std::size_t longest = 40;
    ConstexprVector<int> order, ready[2];
    const auto add = [&](int q) {
      ConstexprVector<int>& list = ready[items[q] != 0 ? 1 : 0];
      std::size_t p = list.size();
      list.push_back(q);
      for (; p > 0 && list[p - 1] < q; --p) list[p] = list[p - 1];  // descending: the next group is at the back
      list[p] = q;
    };
    for (int q = 0; q < static_cast<int>(s_.groups.size()); ++q) {
      if (waits_for_[at(q)] == 0) add(q);
    }
    std::size_t turn = 0, run = 0;
    while (order.size() < s_.groups.size()) {
      if (ready[turn].empty() || (turn == 1 && run == longest && !ready[0].empty())) {
        turn = 1 - turn;
        run = 0;
        continue;
      }
      const int q = ready[turn].back();
      ready[turn].pop_back();
      order.push_back(q);
      ++run;
      for (int f : followers_[at(q)]) {
        if (--waits_for_[at(f)] == 0) add(f);
      }
    }
    return order;
  }

  constexpr Schedule permuted(const ConstexprVector<int>& order) const {
    Schedule to = s_;
    ConstexprVector<int> place(order.size(), 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      place[at(order[k])] = static_cast<int>(k);
      to.groups[k] = s_.groups[at(order[k])];
    }
    for (int& home : to.home) home = home < 0 ? home : place[at(home)];
    return to;
  }

  const Node* nodes_;
  const Schedule& s_;
  const int *home_, *base_;
  ConstexprVector<ConstexprVector<int>> followers_;
  ConstexprVector<int> waits_for_;
  Block<Uses> uses_;  ///< by variable
  ConstexprVector<Reading> readings_;
};
}  // namespace detail

/// By group: whether it can run item by item. All 0 if there is nothing to reorder.
constexpr ConstexprVector<char> find_itemwise(const SubgraphView& g, const Schedule& s) {
  ConstexprVector<char> items = detail::RegionFinder(g, s).itemwise_groups();
  bool any = false;
  for (std::size_t q = 0; q < items.size(); ++q) any = any || (items[q] != 0 && s.groups[q].root >= 0);
  if (!any) items.assign(items.size(), 0);
  return items;
}

constexpr Schedule order_by_items(const SubgraphView& g, const Schedule& s, const char* itemwise) {
  return detail::Orderer(g, s).run(itemwise);
}
constexpr Schedule order_by_items(const SubgraphView& g, const Schedule& s) {
  const ConstexprVector<char> items = find_itemwise(g, s);
  bool any = false;
  for (char itemwise : items) any = any || itemwise != 0;
  if (!any) return s;
  return order_by_items(g, s, items.data());
}

}  // namespace crochet

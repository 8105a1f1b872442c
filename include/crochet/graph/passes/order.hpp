// SPDX-License-Identifier: Apache-2.0
// order_by_items: puts groups that can be made item by item next to each other, so that regions get long: the steps of
// the backward sweep, between which products for weights lie that need the whole batch. Whatever depends on another
// group stays behind it.
#pragma once
#include <crochet/graph/passes/regions.hpp>

namespace crochet {

namespace detail {
class Orderer {
 public:
  constexpr Orderer(const Subgraph& g, const Schedule& s)
      : g_(g), s_(s), followers_(s.groups.size()), waits_for_(s.groups.size(), 0) {}

  constexpr Schedule run() {
    const std::vector<char> items = RegionFinder(g_, s_).itemwise_groups();
    bool any = false;
    for (std::size_t q = 0; q < items.size(); ++q) any = any || (items[q] != 0 && s_.groups[q].root >= 0);
    if (!any) return s_;
    find_dependencies();
    return permuted(order(items));
  }

 private:
  /// What is known of a variable at a point of the schedule.
  struct Uses {
    int assigned_by = -1;
    std::vector<int> readers;
  };

  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }
  constexpr void after(int earlier, int later) {
    if (earlier < 0 || earlier == later) return;
    followers_[at(earlier)].push_back(later);
    ++waits_for_[at(later)];
  }

  constexpr void find_dependencies() {
    std::vector<Uses> variables(g_.nodes.size());
    for (int q = 0; q < static_cast<int>(s_.groups.size()); ++q) {
      const Group& group = s_.groups[at(q)];
      const auto read = [&](int i) {
        // Something that is computed again waits for the gradient that it is computed for.
        for (int v = i; node(v).op->kind == OpKind::view; v = node(v).inputs[0]) {
          if (node(v).inputs[1] >= 0) after(s_.home[at(s_.base[at(node(v).inputs[1])])], q);
        }
        const int b = s_.base[at(i)];
        after(s_.home[at(b)], q);
        const Node& n = node(b);
        if (n.op->kind != OpKind::assign && n.op->kind != OpKind::source) return;
        Uses& uses = variables[at(n.op->kind == OpKind::assign ? n.inputs[0] : b)];
        after(uses.assigned_by, q);
        uses.readers.push_back(q);
      };
      const auto read_inputs = [&](int i) {
        for (std::size_t k = node(i).op->kind == OpKind::assign ? 1 : 0; k < max_inputs; ++k) {
          if (node(i).inputs[k] >= 0) read(node(i).inputs[k]);
        }
      };
      if (group.root >= 0) read_inputs(group.root);
      for (int i : group.nodes) read_inputs(i);
      for (int i : group.nodes) {
        if (node(i).op->kind == OpKind::assign) assign(variables[at(node(i).inputs[0])], q);
      }
    }
  }
  constexpr void assign(Uses& uses, int q) {
    after(uses.assigned_by, q);
    for (int reader : uses.readers) after(reader, q);
    uses.readers.clear();
    uses.assigned_by = q;
  }

  /// Turn and turn about: all groups of one kind that wait for nothing, in their old order, then all of the other.
  constexpr std::vector<int> order(const std::vector<char>& items) {
    // What a region puts off lives longer: after so many groups it gets its turn.
    constexpr std::size_t longest = 40;
    std::vector<int> order, ready[2];
    const auto add = [&](int q) {
      std::vector<int>& list = ready[items[at(q)] != 0 ? 1 : 0];
      std::size_t p = list.size();
      list.push_back(q);
      for (; p > 0 && list[p - 1] < q; --p) list[p] = list[p - 1];  // the first comes last
      list[p] = q;
    };
    for (int q = 0; q < static_cast<int>(items.size()); ++q) {
      if (waits_for_[at(q)] == 0) add(q);
    }
    std::size_t turn = 0, run = 0;
    while (order.size() < items.size()) {
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

  constexpr Schedule permuted(const std::vector<int>& order) const {
    Schedule to = s_;
    std::vector<int> place(order.size(), 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      place[at(order[k])] = static_cast<int>(k);
      to.groups[k] = s_.groups[at(order[k])];
    }
    for (int& home : to.home) home = home < 0 ? home : place[at(home)];
    return to;
  }

  const Subgraph& g_;
  const Schedule& s_;
  std::vector<std::vector<int>> followers_;
  std::vector<int> waits_for_;
};
}  // namespace detail

constexpr Schedule order_by_items(const Subgraph& g, const Schedule& s) { return detail::Orderer(g, s).run(); }

}  // namespace crochet

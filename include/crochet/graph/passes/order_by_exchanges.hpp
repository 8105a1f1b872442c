// SPDX-License-Identifier: Apache-2.0
// order_by_exchanges: exchanges with other ranks begin as early as dependencies permit and end as late, so that a
// gradient is on the wire while the ones of earlier layers are computed. On a device those that wait come as late, too:
// the fewer steps are between them, the fewer launches a run has.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/passes/dependencies.hpp>
#include <crochet/graph/passes/schedule.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// Whether the subgraph has exchanges that begin and end in steps of their own.
constexpr bool has_overlaps(const SubgraphView& g) {
  for (const Node& n : g.nodes) {
    if (n.is(op::begin_over_ranks)) return true;
  }
  return false;
}

/// Whether the subgraph has exchanges that wait.
constexpr bool has_waiting_exchanges(const SubgraphView& g) {
  for (const Node& n : g.nodes) {
    if (n.is(op::mean_over_ranks) || n.is(op::sum_over_ranks)) return true;
  }
  return false;
}

/// Of the groups that are ready the first of the first class: those that begin an exchange, others, those that end one.
/// `gathers`: exchanges that wait are a class before the last, and those of the last two classes that are ready come
/// one behind the other.
constexpr Schedule order_by_exchanges(const SubgraphView& g, const Schedule& s, bool gathers = false) {
  Dependencies found = find_dependencies(g, s);
  ConstexprVector<int> order, ready[4];
  const auto class_of = [&](int q) -> std::size_t {
    const int root = s.groups[detail::at(q)].root;
    if (root < 0) return 1;
    const Node& n = g.nodes.data()[root];
    const bool waits = gathers && (n.is(op::mean_over_ranks) || n.is(op::sum_over_ranks));
    return n.is(op::begin_over_ranks) ? 0 : n.is(op::end_over_ranks) ? 3 : waits ? 2 : 1;
  };
  const auto add = [&](int q) {
    ConstexprVector<int>& list = ready[class_of(q)];
    std::size_t p = list.size();
    list.push_back(q);
    for (; p > 0 && list[p - 1] < q; --p) list[p] = list[p - 1];  // descending: the next group is at the back
    list[p] = q;
  };
  for (int q = 0; q < static_cast<int>(s.groups.size()); ++q) {
    if (found.waits_for[detail::at(q)] == 0) add(q);
  }
  while (order.size() < s.groups.size()) {
    const std::size_t before = order.empty() ? 0 : class_of(order.back());
    std::size_t first = gathers && before >= 2 && !ready[before].empty() ? before : 0;
    while (ready[first].empty()) ++first;
    const int q = ready[first].back();
    ready[first].pop_back();
    order.push_back(q);
    for (const int f : found.followers[detail::at(q)]) {
      if (--found.waits_for[detail::at(f)] == 0) add(f);
    }
  }
  return permuted(s, order);
}

}  // namespace crochet

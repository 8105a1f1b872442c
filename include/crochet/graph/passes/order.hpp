// SPDX-License-Identifier: Apache-2.0
// order_by_items: reorders the groups so that those that can run item by item are adjacent, which makes regions longer.
// In a backward pass they are separated by the products for weights, which need the whole batch. Dependencies are kept.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/dependencies.hpp>
#include <crochet/graph/passes/regions.hpp>

namespace crochet {

namespace detail {
/// Alternates between the two kinds: all ready groups of one kind, in their old order, then all of the other.
constexpr ConstexprVector<int> order_of(Dependencies found, const char* items) {
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
  for (int q = 0; q < static_cast<int>(found.waits_for.size()); ++q) {
    if (found.waits_for[at(q)] == 0) add(q);
  }
  std::size_t turn = 0, run = 0;
  while (order.size() < found.waits_for.size()) {
    if (ready[turn].empty() || (turn == 1 && run == longest && !ready[0].empty())) {
      turn = 1 - turn;
      run = 0;
      continue;
    }
    const int q = ready[turn].back();
    ready[turn].pop_back();
    order.push_back(q);
    ++run;
    for (int f : found.followers[at(q)]) {
      if (--found.waits_for[at(f)] == 0) add(f);
    }
  }
  return order;
}
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
  return permuted(s, detail::order_of(find_dependencies(g, s), itemwise));
}
constexpr Schedule order_by_items(const SubgraphView& g, const Schedule& s) {
  const ConstexprVector<char> items = find_itemwise(g, s);
  bool any = false;
  for (char itemwise : items) any = any || itemwise != 0;
  if (!any) return s;
  return order_by_items(g, s, items.data());
}

}  // namespace crochet

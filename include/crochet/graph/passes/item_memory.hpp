// SPDX-License-Identifier: Apache-2.0
// plan_item_memory: values used within one item region only get memory for a few items instead of the whole batch.
// Values whose lifetimes in the region do not overlap share memory.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/memory.hpp>

namespace crochet {

namespace detail {
class ItemMemoryPlanner {
 public:
  constexpr ItemMemoryPlanner(const SubgraphView& g, const Schedule& s, const Regions& r, MemoryPlan& m)
      : g_(g), s_(s), r_(r), m_(m), last_(g.nodes.size(), -1) {}

  constexpr ConstexprVector<ItemSteps> run() {
    for (const TiledRegion& region : r_.list) {
      steps_.push_back({region.first, region.last - region.first + 1, r_.items});
      placed_.clear();
      for (int q = region.first; q <= region.last; ++q) find_last_uses(q);
      for (int q = region.first; q <= region.last; ++q) place_values(q);
    }
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      const auto base = at(s_.base[i]);
      if (g_.nodes[i].op->kind != OpKind::view || r_.local[base] == 0) continue;
      m_.values[i].space = m_.values[base].space;
      m_.values[i].index = m_.values[base].index;
    }
    return std::move(steps_);
  }

 private:
  struct Placed {
    std::int64_t from, to;
    int until;
  };
  static constexpr std::int64_t alignment = 64;

  constexpr std::int64_t bytes_per_item(int i) const {
    const Node& n = g_.nodes[at(i)];
    return elements_per_item(n.shape, r_.items) * static_cast<std::int64_t>(size_of(n.dtype));
  }

  constexpr void find_last_uses(int q) {
    const Group& group = s_.groups[at(q)];
    const auto use = [&](int i) {
      const int b = s_.base[at(i)];
      if (last_[at(b)] < 0) steps_.back().bytes += bytes_per_item(b);
      last_[at(b)] = q;
    };
    const auto use_inputs = [&](int i) {
      for (int in : g_.nodes[at(i)].inputs) {
        if (in >= 0) use(in);
      }
    };
    if (group.root >= 0) use_inputs(group.root);
    for (int i : group.nodes) use_inputs(i);
  }

  constexpr void place_values(int q) {
    const Group& group = s_.groups[at(q)];
    if (group.root >= 0) place(group.root, q);
    for (int i : group.nodes) {
      if (s_.home[at(i)] == q) place(i, q);
    }
  }

  /// First fit among the values that are still live.
  constexpr void place(int i, int q) {
    if (r_.local[at(i)] == 0 || m_.values[at(i)].space == AddressSpace::tile) return;
    const std::int64_t size = (bytes_per_item(i) + alignment - 1) / alignment * alignment;
    std::int64_t from = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Placed& p : placed_) {
        if (p.until < q || p.from >= from + size || p.to <= from) continue;
        from = p.to;
        moved = true;
      }
    }
    placed_.push_back({from, from + size, last_[at(i)] > q ? last_[at(i)] : q});
    if (steps_.back().room < from + size) steps_.back().room = from + size;
    m_.values[at(i)].space = AddressSpace::tile;
    m_.values[at(i)].index = static_cast<std::int32_t>(from);
  }

  SubgraphView g_;
  const Schedule& s_;
  const Regions& r_;
  MemoryPlan& m_;
  ConstexprVector<int> last_;
  ConstexprVector<Placed> placed_;
  ConstexprVector<ItemSteps> steps_;
};
}  // namespace detail

constexpr ConstexprVector<ItemSteps> plan_item_memory(const SubgraphView& g, const Schedule& s, const Regions& r,
                                                      MemoryPlan& m) {
  return detail::ItemMemoryPlanner(g, s, r, m).run();
}

}  // namespace crochet

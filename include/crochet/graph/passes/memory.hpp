// SPDX-License-Identifier: Apache-2.0
// plan_memory: gives every value that must be in memory a place. Values whose lifetimes (first to last group that
// touches them) do not overlap take turns in one slot. Sizes may depend on dynamic dimensions: a slot serves values of
// one kind of size, and is as large as the largest.
#pragma once
#include <crochet/graph/passes/regions.hpp>
#include <crochet/graph/plan.hpp>

namespace crochet {

struct MemoryPlan {
  std::vector<Value> values;  ///< by node
  std::vector<ArenaSlot> slots;
};

namespace detail {
class MemoryPlanner {
 public:
  constexpr MemoryPlanner(const Subgraph& g, const Schedule& s, const Regions& r)
      : g_(g), s_(s), r_(r), last_(g.nodes.size(), -1) {}

  constexpr MemoryPlan run() {
    find_last_uses();
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) plan_.values.push_back(source(static_cast<int>(i)));
    std::vector<std::vector<int>> born(s_.groups.size());
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (needs_slot(static_cast<int>(i))) born[at(s_.home[i])].push_back(static_cast<int>(i));
    }
    for (std::size_t q = 0; q < born.size(); ++q) {
      for (int i : born[q]) assign_slot(i, r_.begin(static_cast<int>(q)), r_.end(static_cast<int>(q)));
    }
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (g_.nodes[i].op->kind == OpKind::view) follow(static_cast<int>(i));
    }
    return plan_;
  }

 private:
  constexpr const Node& node(int i) const { return g_.nodes[at(i)]; }
  constexpr bool needs_slot(int i) const {
    const OpKind kind = node(i).op->kind;
    return s_.stored[at(i)] != 0 && s_.home[at(i)] >= 0 && r_.local[at(i)] == 0 && kind != OpKind::assign &&
           kind != OpKind::view;
  }

  constexpr Value source(int i) const {
    const Node& n = node(i);
    Value v{.layout = n.layout, .dtype = n.dtype, .shape = n.shape};
    const Node& from = n.op->kind == OpKind::assign ? node(n.inputs[0]) : n;
    if (from.is(op::variable)) v.region = Region::variable;
    if (from.is(op::placeholder)) v.region = Region::placeholder;
    if (v.region != Region::none) v.index = from.origin;
    return v;
  }

  constexpr void touch(int i, int q) {
    int& last = last_[at(s_.base[at(i)])];
    last = r_.end(q) > last ? r_.end(q) : last;  // the region's other items come after this one
  }
  constexpr void find_last_uses() {
    for (std::size_t q = 0; q < s_.groups.size(); ++q) {
      const Group& group = s_.groups[q];
      if (group.root >= 0) touch_inputs(group.root, static_cast<int>(q));
      for (int i : group.nodes) touch_inputs(i, static_cast<int>(q));
    }
    for (int f : g_.fetched) touch(f, static_cast<int>(s_.groups.size()));
  }
  constexpr void touch_inputs(int i, int q) {
    for (int in : node(i).inputs) {
      if (in >= 0) touch(in, q);
    }
  }

  constexpr void assign_slot(int i, int q, int until) {
    const Extent bytes = node(i).shape.size() * Extent(static_cast<std::int64_t>(size_of(node(i).dtype)));
    int best = -1;
    for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
      const bool fits = busy_until_[s] < q && plan_.slots[s].bytes.powers == bytes.powers;
      if (fits && (best < 0 || waste(s, bytes) < waste(at(best), bytes))) best = static_cast<int>(s);
    }
    if (best < 0) {
      best = static_cast<int>(plan_.slots.size());
      plan_.slots.push_back({bytes});
      busy_until_.push_back(-1);
    }
    ArenaSlot& slot = plan_.slots[at(best)];
    if (slot.bytes.factor < bytes.factor) slot.bytes.factor = bytes.factor;
    busy_until_[at(best)] = last_[at(i)] > until ? last_[at(i)] : until;
    plan_.values[at(i)].region = Region::slot;
    plan_.values[at(i)].index = best;
  }
  constexpr std::int64_t waste(std::size_t slot, const Extent& bytes) const {
    const std::int64_t d = plan_.slots[slot].bytes.factor - bytes.factor;
    return d < 0 ? -d : d;
  }

  constexpr void follow(int i) {
    const Value& base = plan_.values[at(s_.base[at(i)])];
    plan_.values[at(i)].region = base.region;
    plan_.values[at(i)].index = base.index;
  }

  const Subgraph& g_;
  const Schedule& s_;
  const Regions& r_;
  std::vector<int> last_;
  std::vector<int> busy_until_;
  MemoryPlan plan_;
};
}  // namespace detail

constexpr MemoryPlan plan_memory(const Subgraph& g, const Schedule& s, const Regions& r) {
  return detail::MemoryPlanner(g, s, r).run();
}

}  // namespace crochet

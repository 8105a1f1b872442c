// SPDX-License-Identifier: Apache-2.0
// plan_memory: assigns every value a location: a variable, fed memory, or its own slot of the workspace. Offsets of
// slots are computed later (passes/arena.hpp), when the barriers are known.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/graph/passes/regions.hpp>

namespace crochet {

struct MemoryPlan {
  ConstexprVector<Value> values;  ///< by node
  ConstexprVector<ArenaSlot> slots;
};

namespace detail {
class MemoryPlanner {
 public:
  constexpr MemoryPlanner(const SubgraphView& g, const Schedule& s, const Regions& r) : g_(g), s_(s), r_(r) {}

  constexpr MemoryPlan run() {
    plan_.values.reserve(g_.nodes.size());
    for (int i = 0; i < static_cast<int>(g_.nodes.size()); ++i) {
      plan_.values.push_back(source(i));
      if (needs_slot(i)) assign_slot(i);
    }
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (g_.nodes[i].op->kind == OpKind::view) follow(static_cast<int>(i));
    }
    return std::move(plan_);
  }

 private:
  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }
  constexpr bool needs_slot(int i) const {
    const OpKind kind = node(i).op->kind;
    return s_.stored[at(i)] != 0 && s_.home[at(i)] >= 0 && r_.local[at(i)] == 0 && kind != OpKind::assign &&
           kind != OpKind::view;
  }

  constexpr Value source(int i) const {
    const Node& n = node(i);
    Value v{.layout = n.layout, .dtype = n.dtype, .shape = n.shape};
    const Node& from = n.op->kind == OpKind::assign ? node(n.inputs[0]) : n;
    if (from.is(op::variable)) v.space = AddressSpace::variable;
    if (from.is(op::placeholder)) v.space = AddressSpace::placeholder;
    if (v.space != AddressSpace::none) v.index = from.origin;
    return v;
  }

  constexpr void assign_slot(int i) {
    const Node& n = node(i);
    Value& v = plan_.values[at(i)];
    v.space = AddressSpace::arena;
    v.index = static_cast<std::int32_t>(plan_.slots.size());
    plan_.slots.push_back({n.shape.size() * Extent(static_cast<std::int64_t>(size_of(n.dtype)))});
  }

  constexpr void follow(int i) {
    const Value& base = plan_.values[at(s_.base[at(i)])];
    plan_.values[at(i)].space = base.space;
    plan_.values[at(i)].index = base.index;
  }

  SubgraphView g_;
  const Schedule& s_;
  const Regions& r_;
  MemoryPlan plan_;
};
}  // namespace detail

constexpr MemoryPlan plan_memory(const SubgraphView& g, const Schedule& s, const Regions& r) {
  return detail::MemoryPlanner(g, s, r).run();
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The facts about a plan's steps and memory for probes: the nodes that a step computes, the node that names it, its
// work and its memory accesses. Numbers that depend on sizes are stored as extents.
#pragma once
#include <array>
#include <cstdint>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/work.hpp>
#include <crochet/graph/probe/probed_run.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

/// The part [first, first + count) of a list.
struct Part {
  std::int32_t first = 0, count = 0;
};
/// A value accessed by a step.
struct TouchedBytes {
  Extent bytes;
  bool writes = false;
};

/// A list for every step, stored one after the other.
template <class Item>
struct ByStep {
  ConstexprVector<Part> parts;
  ConstexprVector<Item> items;

  constexpr void begin() { parts.push_back({static_cast<std::int32_t>(items.size()), 0}); }
  constexpr void add(const Item& item) {
    items.push_back(item);
    ++parts.back().count;
  }
};
/// Its fixed-size form.
template <class Item, std::size_t Steps, std::size_t Room>
struct FrozenByStep {
  FrozenList<Part, Steps> parts;
  FrozenList<Item, Room> items;

  constexpr explicit FrozenByStep(const ByStep<Item>& from) : parts(from.parts), items(from.items) {}
  constexpr std::span<const Item> operator[](std::size_t step) const {
    const Part& p = parts[step];
    return {items.data() + p.first, static_cast<std::size_t>(p.count)};
  }
};

/// The nodes of the model's graph computed by each group, in the graph's order.
constexpr ByStep<std::int32_t> nodes_by_step(const SubgraphView& g, const Schedule& s) {
  ByStep<std::int32_t> all;
  const Node* const nodes = g.nodes.data();
  for (const Group& group : s.groups) {
    all.begin();
    const auto first = all.items.size();
    const auto insert = [&](std::int32_t id) {
      std::size_t at = all.items.size();
      while (at > first && all.items.data()[at - 1] > id) --at;
      if (id < 0 || (at > first && all.items.data()[at - 1] == id)) return;
      all.add(id);
      std::int32_t* const items = all.items.data();
      for (std::size_t k = all.items.size() - 1; k > at; --k) items[k] = items[k - 1];
      items[at] = id;
    };
    if (group.root >= 0) insert(nodes[group.root].origin);
    for (std::size_t k = 0; k < group.nodes.size(); ++k) insert(nodes[group.nodes.data()[k]].origin);
  }
  return all;
}

/// The node that names each step; no node is used twice. It is the kernel's node; for a loop the last one computed for
/// other steps, else any other of its nodes. A step that only copies takes a node that names no step yet.
constexpr ConstexprVector<std::int32_t> names_of_steps(const SubgraphView& g, const Schedule& s,
                                                       std::size_t graph_nodes) {
  ConstexprVector<char> taken(graph_nodes, 0);
  ConstexprVector<std::int32_t> names;
  const Node* const nodes = g.nodes.data();
  for (std::size_t q = 0; q < s.groups.size(); ++q) {
    const Group& group = s.groups.data()[q];
    std::int32_t name = -1;
    const auto offer = [&](int i) {
      const std::int32_t id = nodes[i].origin;
      if (name < 0 && id >= 0 && taken.data()[id] == 0) name = id;
    };
    if (group.root >= 0) offer(group.root);
    for (std::size_t k = group.nodes.size(); k-- > 0 && name < 0;) {
      const int i = group.nodes.data()[k];
      if (s.home.data()[i] == static_cast<int>(q)) offer(i);
    }
    for (std::size_t k = group.nodes.size(); k-- > 0 && name < 0;) offer(group.nodes.data()[k]);
    for (std::size_t id = 0; id < graph_nodes && name < 0; ++id) {
      if (taken.data()[id] == 0) name = static_cast<std::int32_t>(id);
    }
    taken.data()[name] = 1;
    names.push_back(name);
  }
  return names;
}

constexpr ByStep<Work> work_by_step(const SubgraphView& g, const Schedule& s) {
  ByStep<Work> all;
  const Node* const nodes = g.nodes.data();
  const auto add = [&](const Node& n) {
    const Shape* in[max_inputs]{};
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) in[k] = &nodes[n.inputs[k]].shape;
    const Work work = work_of(*n.op, n.shape, in, n.attributes);
    if (work.each > 0) all.add(work);
  };
  for (const Group& group : s.groups) {
    all.begin();
    if (group.root >= 0) add(nodes[group.root]);
    for (std::size_t k = 0; k < group.nodes.size(); ++k) add(nodes[group.nodes.data()[k]]);
  }
  return all;
}

/// Calls touch(value, writes) for every access of a step, possibly several times for the same value.
template <class Plan, class Touch>
constexpr void each_touched(const Plan& plan, const Step& s, Touch touch) {
  if (s.root != nullptr) {
    for (std::size_t k = 0; k < max_inputs && s.operands[k] >= 0; ++k) touch(s.operands[k], false);
    if (s.instructions == 0) touch(s.root_value, true);
  }
  for (std::int32_t i = s.first_instruction; i < s.first_instruction + s.instructions; ++i) {
    const Instruction& ins = plan.instructions.data()[i];
    const bool writes = ins.kind == Instruction::Kind::store || ins.kind == Instruction::Kind::accumulate;
    if (writes || ins.kind == Instruction::Kind::load) {
      touch(plan.accesses.data()[s.first_access + ins.args[0]].value, writes);
    }
  }
}
template <class Plan>
constexpr ByStep<TouchedBytes> touched_by_step(const Plan& plan) {
  ByStep<TouchedBytes> all;
  // by value: the last step that accesses it, plus 1
  ConstexprVector<std::size_t> read(plan.value_count, 0), written(plan.value_count, 0);
  for (std::size_t q = 0; q < plan.step_count; ++q) {
    all.begin();
    each_touched(plan, plan.steps.data()[q], [&](std::int32_t value, bool writes) {
      std::size_t& last = (writes ? written : read).data()[value];
      if (last == q + 1) return;
      last = q + 1;
      const Value& v = plan.values.data()[value];
      all.add({v.shape.size() * Extent(static_cast<std::int64_t>(size_of(v.dtype))), writes});
    });
  }
  return all;
}
template <class Plan, std::size_t N>
constexpr std::array<ProbedSlot, N> steps_of_slots(const Plan& plan) {
  std::array<ProbedSlot, N> slots{};
  for (ProbedSlot& slot : slots) slot.first = -1;
  for (std::size_t q = 0; q < plan.step_count; ++q) {
    each_touched(plan, plan.steps.data()[q], [&](std::int32_t value, bool) {
      const Value& v = plan.values.data()[value];
      if (v.space != AddressSpace::arena) return;
      ProbedSlot& slot = slots.data()[v.index];
      slot.last = static_cast<std::int32_t>(q);
      if (slot.first < 0) slot.first = slot.last;
    });
  }
  return slots;
}

}  // namespace detail

/// T: the tables of the graph, P: the plan (Planned).
template <class T, class P>
class StepFacts {
  static constexpr std::size_t count = P::plan.step_count;
  static constexpr std::size_t members = P::ordered.needed() + P::ordered.groups();
  static constexpr std::size_t touches = [] {
    std::size_t n = P::plan.sizes().instructions;
    for (std::size_t q = 0; q < count; ++q) n += P::plan.steps[q].root == nullptr ? 0 : 1 + max_inputs;
    return n;
  }();

  static constexpr detail::FrozenByStep<std::int32_t, count, members> nodes{
      detail::nodes_by_step(P::complete.view(), P::ordered.to_mutable())};
  static constexpr detail::FrozenByStep<Work, count, members> work{
      detail::work_by_step(P::complete.view(), P::ordered.to_mutable())};
  static constexpr detail::FrozenByStep<detail::TouchedBytes, count, touches> touched{detail::touched_by_step(P::plan)};
  static constexpr auto slots = detail::steps_of_slots<decltype(P::plan), P::plan.slot_count>(P::plan);
  static constexpr auto regions = [] {
    std::array<std::int32_t, count> all{};
    for (std::size_t q = 0; q < count; ++q) all[q] = P::plan.steps[q].region;
    return all;
  }();
  static constexpr auto slot_bytes = [] {
    std::array<Extent, P::plan.slot_count> all{};
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = P::plan.slots[k].bytes;
    return all;
  }();

 public:
  /// By step: the node that names it.
  static constexpr FrozenList<std::int32_t, count> names{
      detail::names_of_steps(P::complete.view(), P::ordered.to_mutable(), T::graph.nodes.size())};

  /// The facts at the sizes of a run.
  struct Run {
    std::array<ProbedStep, count> steps;
    std::array<ProbedSlot, P::plan.slot_count> slots;
  };
  static Run at(const Dims& dims) {
    Run run{{}, slots};
    for (std::size_t q = 0; q < count; ++q) {
      ProbedStep& s = run.steps[q];
      s = {names[q], nodes[q], regions[q], 0, 0, 0};
      for (const Work& w : work[q]) s.flops += w.at(dims);
      for (const detail::TouchedBytes& t : touched[q]) {
        (t.writes ? s.bytes_written : s.bytes_read) += static_cast<double>(t.bytes.at(dims));
      }
    }
    for (std::size_t k = 0; k < run.slots.size(); ++k) run.slots[k].bytes = slot_bytes[k].at(dims);
    return run;
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

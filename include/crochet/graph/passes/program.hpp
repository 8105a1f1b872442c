// SPDX-License-Identifier: Apache-2.0
// write_programs: converts each group to a step: the kernel call and the program of its epilogue or loop.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/memory.hpp>

namespace crochet {

namespace detail {
class ProgramWriter {
 public:
  constexpr ProgramWriter(const SubgraphView& g, const Schedule& s, const MemoryPlan& m)
      : g_(g), s_(s), position_(g.nodes.size(), -1), accessed_(g.nodes.size(), -1) {
    plan_.values = m.values;
    plan_.slots = m.slots;
    for (int f : g.fetched) plan_.fetched.push_back(f);
  }

  constexpr Plan run() { return go_on(0, s_.groups.size()); }
  /// Writes the groups [first, last) after `so_far`, the plan of those before them.
  constexpr Plan run(Plan so_far, std::size_t first, std::size_t last) {
    if (first > 0) plan_ = std::move(so_far);
    for (const Step& s : plan_.steps) reduction_buffers_ += s.reduction_buffer >= 0 ? 1 : 0;
    return go_on(first, last);
  }

 private:
  using Kind = Instruction::Kind;

  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }

  constexpr Plan go_on(std::size_t first, std::size_t last) {
    for (std::size_t q = first; q < last; ++q) write(s_.groups[q], static_cast<int>(q));
    return std::move(plan_);
  }
  constexpr void write(const Group& group, int q) {
    step_ = {};
    step_.first_instruction = static_cast<std::int32_t>(plan_.instructions.size());
    step_.first_access = static_cast<std::int32_t>(plan_.accesses.size());
    cut_ = 0;
    while (((group.cuts >> cut_) & 1U) == 0) ++cut_;
    step_.rows = group.shape.product(0, cut_);
    step_.columns = group.shape.product(cut_, group.shape.rank);
    shape_ = group.shape;
    if (group.root >= 0) write_root(group.root);
    for (int i : group.nodes) write_node(i, q);
    step_.instructions = static_cast<std::int32_t>(plan_.instructions.size()) - step_.first_instruction;
    step_.accesses = static_cast<std::int32_t>(plan_.accesses.size()) - step_.first_access;
    plan_.steps.push_back(step_);
    for (int i : used_) position_[at(i)] = accessed_[at(i)] = -1;
    used_.clear();
  }

  constexpr void write_root(int i) {
    const Node& n = node(i);
    step_.root = n.op;
    step_.root_value = i;
    step_.attributes = n.attributes;
    for (std::size_t k = 0; k < max_inputs; ++k) step_.operands[k] = n.inputs[k];
    if (!n.op->has_epilogue()) return;
    remember(i, emit({.kind = Kind::root, .dtype = n.dtype}));
    store_if_wanted(i);
  }

  constexpr void write_node(int i, int q) {
    const Node& n = node(i);
    if (n.op->kind == OpKind::assign) {
      const std::int16_t what = get(n.inputs[1]);
      const std::int16_t where = access(n.inputs[0]);
      emit({.kind = Kind::store, .dtype = n.dtype, .args = {where, what, -1}});
      return remember(i, what);
    }
    if (n.op->reduces) return write_reduction(i);
    if (n.op->kind == OpKind::elementwise) {
      Instruction ins{.kind = Kind::compute, .dtype = n.dtype, .op = n.op};
      for (std::size_t k = 0; k < ins.args.size(); ++k) {
        if (n.inputs[k] >= 0) ins.args[k] = get(n.inputs[k]);
      }
      remember(i, emit(ins));
    } else {
      get(i);  // a fetched constant
    }
    if (s_.home[at(i)] == q) store_if_wanted(i);
  }

  constexpr void write_reduction(int i) {
    const Node& n = node(i);
    const std::int16_t what = get(n.inputs[0]);
    plan_.accesses.push_back({i, broadcast_mode(beside_input(n, shape_), shape_, cut_)});
    const auto where = static_cast<std::int16_t>(static_cast<int>(plan_.accesses.size()) - 1 - step_.first_access);
    emit({.kind = Kind::accumulate, .dtype = n.dtype, .op = n.op, .args = {where, what, -1}});
    if (step_.reduction_buffer < 0) step_.reduction_buffer = reduction_buffers_++;
  }

  constexpr void store_if_wanted(int i) {
    if (s_.stored[at(i)] == 0) return;
    const std::int16_t where = access(i);
    emit({.kind = Kind::store,
          .dtype = node(i).dtype,
          .args = {where, static_cast<std::int16_t>(position_[at(i)]), -1}});
  }

  constexpr std::int16_t get(int i) {
    if (position_[at(i)] >= 0) return static_cast<std::int16_t>(position_[at(i)]);
    const Node& n = node(i);
    Instruction ins{.kind = Kind::load, .dtype = n.dtype};
    if (n.is(op::constant)) {
      ins.kind = Kind::constant;
      ins.immediate = n.attributes.reals[0];
    } else {
      ins.args[0] = access(i);
    }
    remember(i, emit(ins));
    return static_cast<std::int16_t>(position_[at(i)]);
  }

  constexpr std::int16_t access(int i) {
    if (accessed_[at(i)] < 0) {
      plan_.accesses.push_back({i, broadcast_mode(node(i).shape, shape_, cut_)});
      accessed_[at(i)] = static_cast<int>(plan_.accesses.size()) - 1 - step_.first_access;
      used_.push_back(i);
    }
    return static_cast<std::int16_t>(accessed_[at(i)]);
  }

  constexpr std::int16_t emit(const Instruction& i) {
    plan_.instructions.push_back(i);
    return static_cast<std::int16_t>(static_cast<std::int32_t>(plan_.instructions.size()) - 1 -
                                     step_.first_instruction);
  }
  constexpr void remember(int i, int position) {
    position_[at(i)] = position;
    used_.push_back(i);
  }

  SubgraphView g_;
  const Schedule& s_;
  Plan plan_;
  Step step_;
  Shape shape_;
  std::size_t cut_ = 0;
  std::int32_t reduction_buffers_ = 0;
  ConstexprVector<int> position_, accessed_, used_;
};
}  // namespace detail

constexpr Plan write_programs(const SubgraphView& g, const Schedule& s, const MemoryPlan& m) {
  return detail::ProgramWriter(g, s, m).run();
}
/// One stage of the pass: writes the groups [first, last) after `so_far`. Several calls make up a plan.
constexpr Plan write_programs(const SubgraphView& g, const Schedule& s, const MemoryPlan& m, Plan so_far,
                              std::size_t first, std::size_t last) {
  return detail::ProgramWriter(g, s, m).run(std::move(so_far), first, last);
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// fuse: partitions a subgraph's nodes into groups. Each group becomes one step: a kernel (the root) with the
// elementwise operations after it, or a fused elementwise loop. Groups are numbered in execution order.
//
// The pass is one forward sweep:
// - An elementwise node joins the latest group among its inputs, if that group's loop has its shape. Every edge then
//   goes to the same or a later group, so there are no cycles.
// - A node computed from sources only has no group: it is computed again wherever it is read (floating.hpp). If a node
//   of another shape reads it, for example each row a scale of its columns, it is stored by a loop before all others:
//   so that reader may still join the kernel that computes its other operand.
// - An assignment is also placed after every earlier reader of its variable, whose operand it overwrites, and after
//   every earlier assignment to it.
// - A reduction joins the loop that computes its input, if a cut of that loop makes it a reduction of everything, of
//   rows or of columns, and no value of the loop is in panels. Its readers are placed after the whole loop; other nodes
//   may still join the loop.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/floating.hpp>
#include <crochet/graph/passes/layouts.hpp>
#include <crochet/graph/passes/reductions.hpp>
#include <crochet/graph/passes/schedule.hpp>

namespace crochet {

namespace detail {
class Fuser {
 public:
  constexpr explicit Fuser(const SubgraphView& g)
      : g_(g), nodes_(g.nodes.data()), floating_(g), states_(g.nodes.size()) {
    s_.home.assign(g.nodes.size(), -1);
    s_.stored.assign(g.nodes.size(), 0);
    s_.base.assign(g.nodes.size(), -1);
    s_.groups.reserve(g.nodes.size() / 4 + 8);
    home_ = s_.home.data(), stored_ = s_.stored.data(), base_ = s_.base.data();
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) base_[i] = i;
  }

  constexpr Schedule run() {
    for (int i = 0; i < static_cast<int>(g_.nodes.size()); ++i) {
      if (node(i).op->kind == OpKind::elementwise || node(i).op->kind == OpKind::assign) keep_broadcast_operands(i);
    }
    for (int i = 0; i < static_cast<int>(g_.nodes.size()); ++i) place(i);
    for (int f : g_.fetched) keep(f);
    return std::move(s_);
  }

 private:
  constexpr const Node& node(int i) const { return nodes_[i]; }
  static constexpr bool is_source(const Node& n) { return n.op->kind == OpKind::source; }

  constexpr void place(int i) {
    const Node& n = node(i);
    switch (n.op->kind) {
      case OpKind::source:
      case OpKind::group:
        return;
      case OpKind::view:
        return place_view(i);
      case OpKind::kernel:
        return n.op->reduces && place_reduction(i) ? void() : place_kernel(i);
      case OpKind::assign:
        force_pending_readers(n.inputs[0], i);
        break;
      case OpKind::elementwise:
        if (home_[i] >= 0) return;  // before all others
        if (floating_.precedes_assignment(i) && state_[i].mark < 0) add_pending(i);
        if (floating_.floats(i)) return;
        break;
    }
    place_elementwise(i);
  }

  constexpr void place_view(int i) {
    const int in = node(i).inputs[0];
    keep(in);
    base_[i] = base_[in];
    home_[i] = home_[in];
    state_[i].ready = state_[in].ready;
  }

  /// Adds a reduction to a loop: the loop that computes its input or, for a reduction of everything, a loop that reads
  /// it. Returns whether there is such a loop.
  constexpr bool place_reduction(int i) {
    const int in = node(i).inputs[0];
    const SplitPoints cuts = reduction_cuts(node(i), node(in).shape);
    if (cuts == 0) return false;
    const int q = loop_that_reduces(i, in, cuts);
    if (q < 0) return false;
    Group& group = groups_[q];
    group.cuts &= floats(in) ? cuts & reach(in).cuts : cuts;
    group.reduces = true;
    use(in, q);
    group.nodes.push_back(i);
    home_[i] = q;
    state_[i].ready = q + 1;
    stored_[i] = 1;
    ++epoch_;
    return true;
  }
  /// The loop that the reduction i of node `in` joins; -1 if it is a kernel of its own.
  constexpr int loop_that_reduces(int i, int in, SplitPoints cuts) {
    if (floats(in)) return reach(in).panels || (cuts & reach(in).cuts) == 0 ? -1 : loop_for(in, cuts, false);
    if (is_in_registers(in)) {
      const Group& group = groups_[home_[in]];
      return !group.panels && (group.cuts & cuts) != 0 ? home_[in] : -1;
    }
    const bool of_everything = node(i).shape.size().is_one();
    return of_everything && node(in).layout != Layout::panels ? loop_that_reads(in) : -1;
  }
  /// Whether a loop computes node i, so that its value is in registers there.
  constexpr bool is_in_registers(int i) const {
    const OpKind kind = node(i).op->kind;
    return home_[i] >= 0 && (kind == OpKind::elementwise || kind == OpKind::assign) && groups_[home_[i]].root < 0;
  }
  /// A loop over the stored node `in`: the last group if it is one and comes after the value, else a new one.
  constexpr int loop_that_reads(int in) {
    const int last = static_cast<int>(s_.groups.size()) - 1;
    const bool fits =
        last >= 0 && last >= state_[in].ready && is_loop_over(last, node(in).shape) && !groups_[last].panels;
    return fits && home_[in] != last ? last : open(-1, node(in).shape);
  }
  constexpr bool is_loop_over(int q, const Shape& shape) const {
    return groups_[q].root < 0 && groups_[q].shape == shape;
  }

  /// The best loop for computing a floating node: one that already computes some of its inputs, else the last one, else
  /// a new one. over_panels: also
  /// loops over panels, which cannot reduce.
  constexpr int loop_for(int i, SplitPoints cuts, bool over_panels) {
    const Reach r = reach(i);
    const int last = static_cast<int>(s_.groups.size()) - 1;
    for (int q : {r.shared, last}) {
      if (q < 0 || q < r.latest || groups_[q].root >= 0 || (groups_[q].panels && !over_panels)) continue;
      if (joins(i, q) && (groups_[q].cuts & r.cuts & cuts) != 0) return q;
    }
    return open(-1, node(i).shape);
  }

  constexpr void place_kernel(int i) {
    const Node& n = node(i);
    for (int in : n.inputs) {
      if (in >= 0) keep(in);
    }
    const int q = open(i, n.shape);
    if (n.op->has_epilogue()) groups_[q].cuts = 1U << n.op->row_dimensions(n.shape.rank);
    home_[i] = state_[i].ready = q;
    if (!n.op->has_epilogue()) stored_[i] = 1;
    for (int in : n.inputs) {
      if (in >= 0) read(in, q, true);
    }
  }

  /// Adds an elementwise node or an assignment to the group that computes its latest operand, else to the last loop,
  /// else to a new one.
  constexpr void place_elementwise(int i) {
    keep_operands_without_a_loop(i);
    const int latest = reach(i).latest, after = earliest_group(i);
    const int last = static_cast<int>(s_.groups.size()) - 1;
    if (latest >= 0 && latest <= last && after == latest && joins(i, latest)) return add(i, latest);
    const bool fits = last >= 0 && last >= after && groups_[last].root < 0 && joins(i, last);
    add(i, fits ? last : open(-1, node(i).shape));
  }
  /// Stores the operands of another shape that are computed from sources only.
  constexpr void keep_broadcast_operands(int i) {
    const Node& n = node(i);
    for (std::size_t k = n.op->kind == OpKind::assign ? 1 : 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const int in = n.inputs[k];
      if (!floating_.is_ready(in) || node(in).shape == n.shape) continue;
      place_ahead(in);
      if (floats(in)) keep(in);
    }
  }
  /// Places a ready node that does not float, and those that it depends on. All operands of one that floats float.
  constexpr void place_ahead(int i) {
    if (floating_.floats(i) || home_[i] >= 0) return;
    for (int in : node(i).inputs) {
      if (in >= 0 && floating_.is_ready(in)) place_ahead(in);
    }
    place_elementwise(i);
  }
  /// Stores the floating operands if there is no cut into rows and columns that is common to all of them.
  constexpr void keep_operands_without_a_loop(int i) {
    for (int in : node(i).inputs) {
      if (in >= 0 && floats(in) && reach(i).cuts == 0) keep(in);
    }
  }
  /// The first group in which node i can be computed: that of its latest operand; for an assignment, after the accesses
  /// before it.
  constexpr int earliest_group(int i) {
    const int latest = reach(i).latest;
    if (node(i).op->kind != OpKind::assign) return latest;
    const auto& variable = state_[node(i).inputs[0]];
    return max(latest, max(variable.last_read, variable.last_written));
  }

  /// Whether node i can be computed in group q's loop.
  constexpr bool joins(int i, int q) {
    const Node& n = node(i);
    const Group& group = groups_[q];
    if (group.root >= 0 && !node(group.root).op->has_epilogue()) return false;
    if (!(group.shape == n.shape) || (group.cuts & reach(i).cuts) == 0) return false;
    if (group.reduces && reach(i).panels) return false;
    // A kernel may still read the variable after its first results are stored.
    if (n.op->kind == OpKind::assign && state_[n.inputs[0]].root_read == q) return false;
    for (int in : n.inputs) {
      // a view is not in the loop's registers
      if (in >= 0 && home_[in] == q && node(in).op->kind == OpKind::view) return false;
    }
    return true;
  }

  /// The requirements of computing node i, with the floating nodes that it depends on, in a loop: the cuts at which the
  /// loop can access everything that they read, and the latest group among those that compute it.
  struct Reach {
    int epoch = -1;
    SplitPoints cuts = 0;
    int latest = -1;
    int shared = -1;      ///< the latest group that already computes one of these floating nodes
    bool panels = false;  ///< some operand is in panels
  };
  constexpr Reach reach(int i) {
    if (state_[i].reach.epoch == epoch_) return state_[i].reach;
    const Node& n = node(i);
    Reach r{epoch_, cuts_for(n, n.shape), -1, state_[i].mark, n.layout == Layout::panels};
    for (std::size_t k = n.op->kind == OpKind::assign ? 1 : 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const int in = n.inputs[k];
      if (in < 0) break;
      r.cuts &= cuts_for(node(in), n.shape);
      const bool here = floats(in);
      const Reach behind =
          here ? reach(in) : Reach{epoch_, r.cuts, state_[in].ready, -1, node(in).layout == Layout::panels};
      r.cuts &= behind.cuts;
      r.latest = max(r.latest, behind.latest);
      r.shared = max(r.shared, behind.shared);
      r.panels = r.panels || behind.panels;
    }
    return state_[i].reach = r;
  }
  /// Whether a node is recomputed at each use.
  constexpr bool floats(int i) const { return floating_.floats(i) && home_[i] < 0; }

  constexpr int open(int root, const Shape& shape) {
    s_.groups.push_back({root, shape, all_cuts(shape), {}});
    groups_ = s_.groups.data();
    return static_cast<int>(s_.groups.size()) - 1;
  }

  constexpr void add(int i, int q) {
    const Node& n = node(i);
    groups_[q].cuts &= reach(i).cuts;
    groups_[q].panels = groups_[q].panels || reach(i).panels;
    for (std::size_t k = n.op->kind == OpKind::assign ? 1 : 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      if (n.inputs[k] >= 0) use(n.inputs[k], q);
    }
    if (n.op->kind == OpKind::assign) state_[n.inputs[0]].last_written = q;
    groups_[q].nodes.push_back(i);
    home_[i] = state_[i].ready = q;
    ++epoch_;
  }

  /// Adds node i to the reads of group q's loop.
  constexpr void use(int i, int q) {
    if (floats(i)) {
      if (state_[i].mark == q) return;
      if (state_[i].mark >= 0 && state_[i].mark < q && floating_.cost(i) > worth_storing) {
        settle(i);
        return read(i, q, false);
      }
      state_[i].mark = q;
      state_[i].pending = false;
      for (int in : node(i).inputs) {
        if (in >= 0) use(in, q);
      }
      groups_[q].nodes.push_back(i);
      return;
    }
    if (home_[i] != q) store(i);
    read(i, q, false);
  }

  constexpr void read(int i, int q, bool by_root) {
    const int b = base_[i];
    const int variable = node(b).op->kind == OpKind::assign ? node(b).inputs[0] : b;
    state_[variable].last_read = max(state_[variable].last_read, q);
    if (by_root) state_[variable].root_read = q;
  }

  constexpr void store(int i) {
    if (!is_source(node(i))) stored_[base_[i]] = 1;
  }

  /// The maximum cost of recomputing a value; above it the value is stored.
  static constexpr int worth_storing = 20;
  /// Stores a floating node in the group that already computes it, which becomes its home.
  constexpr void settle(int i) {
    home_[i] = state_[i].ready = state_[i].mark;
    stored_[i] = 1;
    ++epoch_;
  }

  /// Makes node i's value available in memory; a floating node gets a home.
  constexpr void keep(int i) {
    const bool constant_output = node(i).is(op::constant) && home_[i] < 0;
    if (floats(i) && state_[i].mark >= 0) {
      settle(i);
    } else if (floats(i) || constant_output) {
      state_[i].pending = false;
      add(i, constant_output ? open(-1, node(i).shape) : loop_for(i, ~0U, true));
      stored_[i] = 1;
    }
    store(i);
  }

  constexpr void add_pending(int i) {
    state_[i].pending = true;
    all_pending_.push_back(i);
  }
  /// Computes floating nodes that read the variable and are still pending before it is overwritten. Those read by the
  /// assignment itself are computed with it.
  constexpr void force_pending_readers(int variable, int assignment) {
    const int* const all = all_pending_.data();
    const std::size_t count = all_pending_.size();
    while (first_pending_ < count && !state_[all[first_pending_]].pending) ++first_pending_;
    for (std::size_t k = first_pending_; k < count && all[k] < assignment; ++k) {
      if (state_[all[k]].pending && reads(all[k], variable) && !reads(assignment, all[k])) keep(all[k]);
    }
  }
  constexpr bool reads(int i, int what) const {
    for (int in : node(i).inputs) {
      if (in < 0) break;
      if (in == what) return true;
      if (in >= 0 && floats(in) && reads(in, what)) return true;
    }
    return false;
  }

  static constexpr int max(int a, int b) { return a > b ? a : b; }

  /// The state of a node during the pass.
  struct State {
    bool pending = false;  ///< it floats, no group computes it yet, and a variable that it reads will be assigned
    int last_read = -1, root_read = -1, last_written = -1;
    int mark = -1;   ///< if it floats: the latest group that computes it
    int ready = -1;  ///< the first group that may read it: its home, except for reductions
    Reach reach;
  };

  SubgraphView g_;
  const Node* nodes_;
  FloatingNodes floating_;
  Schedule s_;
  // Pointers into s_ and states_, because each call of a vector's operator[] counts towards the constexpr limits.
  int *home_, *base_;
  char* stored_;
  Group* groups_ = nullptr;
  Block<State> states_;
  State* const state_ = states_.data;
  ConstexprVector<int> all_pending_;  ///< nodes that are or were pending, in order
  std::size_t first_pending_ = 0;     ///< no earlier one is still pending
  int epoch_ = 0;                     ///< invalidates the cache of reach()
};
}  // namespace detail

constexpr Schedule fuse(const SubgraphView& g) { return detail::Fuser(g).run(); }

}  // namespace crochet

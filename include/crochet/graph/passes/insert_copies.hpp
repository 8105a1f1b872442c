// SPDX-License-Identifier: Apache-2.0
// insert_copies: a variable has one location in memory, but every assignment makes a new value in the graph. A value
// that is still read after the assignment that overwrites it (by a gradient, or by an earlier view) is copied before
// it. Assignments without later readers of the old value, the usual case, cost nothing.
#pragma once
#include <utility>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

namespace detail {
class CopyInserter {
 public:
  constexpr explicit CopyInserter(const SubgraphView& g)
      : from_(g),
        place_(g.nodes.size(), -1),
        last_reader_(g.nodes.size(), -1),
        moved_(g.nodes.size(), -1),
        lives_in_(g.nodes.size(), -1),
        first_(g.nodes.size(), -1),
        last_(g.nodes.size(), -1),
        next_(g.nodes.size(), -1) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      for (std::size_t k = first_input(g.nodes[i]); k < max_inputs; ++k) {
        if (g.nodes[i].inputs[k] >= 0) last_reader_[at(g.nodes[i].inputs[k])] = static_cast<int>(i);
      }
    }
    for (int f : g.fetched) {
      // A fetched variable is its value after the run, so fetching does not read the old value.
      if (!g.nodes[at(f)].is(op::variable)) last_reader_[at(f)] = static_cast<int>(g.nodes.size());
    }
    for (std::size_t i = g.nodes.size(); i-- > 0;) {
      const Node& n = g.nodes[i];
      if (n.op->kind != OpKind::view) continue;
      int& reader = last_reader_[at(n.inputs[0])];
      if (last_reader_[i] > reader) reader = last_reader_[i];
    }
  }

  constexpr Subgraph run() {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) visit(static_cast<int>(i));
    for (int f : from_.fetched)
      to_.fetched.push_back(from_.nodes[at(f)].is(op::variable) ? moved_[at(f)] : place_[at(f)]);
    for (int t : from_.targets) to_.targets.push_back(place_[at(t)]);
    return std::move(to_);
  }

 private:
  /// An assignment does not read its first input.
  static constexpr std::size_t first_input(const Node& n) { return n.op->kind == OpKind::assign ? 1 : 0; }

  constexpr void visit(int i) {
    Node n = from_.nodes[at(i)];
    if (n.is(op::variable)) live_in(i, i);
    if (n.op->kind == OpKind::view) live_in(i, lives_in_[at(n.inputs[0])]);
    if (n.op->kind == OpKind::assign) save(n.inputs[0], i);
    const int target = n.op->kind == OpKind::assign ? n.inputs[0] : -1;
    for (int& input : n.inputs) {
      if (input >= 0) input = place_[at(input)];
    }
    if (target >= 0) {
      n.inputs[0] = moved_[at(target)];
      live_in(i, target);
    }
    moved_[at(i)] = place_[at(i)] = append(to_, n);
  }

  constexpr void live_in(int i, int variable) {
    lives_in_[at(i)] = variable;
    if (variable < 0) return;
    (first_[at(variable)] < 0 ? first_[at(variable)] : next_[at(last_[at(variable)])]) = i;
    last_[at(variable)] = i;
  }

  /// Before `assignment` overwrites the variable: copies its value if a node after the assignment reads it.
  constexpr void save(int variable, int assignment) {
    for (int i = first_[at(variable)]; i >= 0; i = next_[at(i)]) {
      lives_in_[at(i)] = -1;
      if (last_reader_[at(i)] <= assignment) continue;
      Node n = to_.nodes[at(place_[at(i)])];
      if (n.op->kind == OpKind::view) {
        n.inputs[0] = place_[at(from_.nodes[at(i)].inputs[0])];
      } else {
        n = {.op = &op::broadcast_to, .dtype = n.dtype, .shape = n.shape, .attributes = {}, .origin = n.origin};
        n.inputs[0] = place_[at(i)];
      }
      place_[at(i)] = append(to_, n);
    }
    first_[at(variable)] = -1;
  }

  SubgraphView from_;
  Subgraph to_;
  ConstexprVector<int> place_, last_reader_;
  ConstexprVector<int> moved_;     ///< by node: its new index, before any replacement by a copy
  ConstexprVector<int> lives_in_;  ///< by node: the variable that currently holds its value; -1: none
  ConstexprVector<int> first_, last_,
      next_;  ///< by variable: first and last node that it holds; by node: the next one
};
}  // namespace detail

namespace detail {
/// By node: the last node that reads it or a view of it; -1: none, `nodes.size()`: a fetch.
constexpr ConstexprVector<int> last_readers_of(const SubgraphView& g) {
  ConstexprVector<int> readers(g.nodes.size(), -1);
  int* const last = readers.data();
  const Node* const nodes = g.nodes.data();
  const auto count = static_cast<int>(g.nodes.size());
  for (int i = 0; i < count; ++i) {
    for (std::size_t k = nodes[i].op->kind == OpKind::assign ? 1 : 0; k < max_inputs && nodes[i].inputs[k] >= 0; ++k) {
      last[nodes[i].inputs[k]] = i;
    }
  }
  for (int f : g.fetched) last[f] = nodes[f].op == &op::variable ? last[f] : count;
  for (int i = count - 1; i >= 0; --i) {
    const int in = nodes[i].inputs[0];
    if (nodes[i].op->kind == OpKind::view && last[i] > last[in]) last[in] = last[i];
  }
  return readers;
}
}  // namespace detail

/// Whether the pass has any effect: whether a value held by a variable is read after the next assignment to it.
constexpr bool overwrites_too_early(const SubgraphView& g) {
  const ConstexprVector<int> readers = detail::last_readers_of(g);
  ConstexprVector<int> latest_of(g.nodes.size(), -1), variable_of(g.nodes.size(), -1);
  const int* const last = readers.data();
  int *const latest = latest_of.data(), *const variable = variable_of.data();
  const Node* const nodes = g.nodes.data();
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const OpKind kind = nodes[i].op->kind;
    const int in = nodes[i].inputs[0];
    if (kind == OpKind::assign && latest[in] > i) return true;
    if (kind == OpKind::assign) latest[in] = -1;
    if (nodes[i].op == &op::variable) variable[i] = i;
    if (kind == OpKind::assign) variable[i] = in;
    if (kind == OpKind::view) variable[i] = variable[in];
    const int v = variable[i];
    if (v >= 0 && last[i] > latest[v]) latest[v] = last[i];
  }
  return false;
}

constexpr Subgraph insert_copies(const SubgraphView& g) {
  if (!overwrites_too_early(g)) return detail::copied(g);
  return detail::CopyInserter(g).run();
}

}  // namespace crochet

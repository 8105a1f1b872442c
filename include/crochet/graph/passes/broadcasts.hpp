// SPDX-License-Identifier: Apache-2.0
// Elementwise loops run over rows and columns. Relative to them an operand is the whole matrix, a row, a column or a
// scalar. The ways to split a shape into rows and columns are a set of split points (cuts): cut k makes the first k
// dimensions the rows.
#pragma once
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// A set of split points (cuts), one bit each.
using SplitPoints = unsigned;

namespace detail {
constexpr SplitPoints all_cuts(const Shape& s) { return (2U << s.rank) - 1U; }

constexpr bool ones(const Shape& part, const Shape& full, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (!part.from_right(full.rank - 1 - i).is_one()) return false;
  }
  return true;
}
constexpr bool equal_dims(const Shape& part, const Shape& full, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (!(part.from_right(full.rank - 1 - i) == full[i])) return false;
  }
  return true;
}
}  // namespace detail

/// How a loop over `full`, cut at `cut`, accesses an operand of shape `part`.
enum class BroadcastMode : std::uint8_t { none, full, row, column, scalar };

constexpr BroadcastMode broadcast_mode(const Shape& part, const Shape& full, std::size_t cut) {
  if (part.rank == 0 || part.size().is_one()) return BroadcastMode::scalar;
  if (detail::equal_dims(part, full, 0, full.rank)) return BroadcastMode::full;
  if (detail::ones(part, full, 0, cut) && detail::equal_dims(part, full, cut, full.rank)) return BroadcastMode::row;
  if (detail::equal_dims(part, full, 0, cut) && detail::ones(part, full, cut, full.rank)) return BroadcastMode::column;
  return BroadcastMode::none;
}

/// The cuts of `full` at which `part` has an access mode.
constexpr SplitPoints cuts_for(const Shape& part, const Shape& full) {
  if (part == full || part.rank == 0) return detail::all_cuts(full);
  SplitPoints cuts = 0;
  for (std::size_t k = 0; k <= full.rank; ++k) {
    if (broadcast_mode(part, full, k) != BroadcastMode::none) cuts |= 1U << k;
  }
  return cuts;
}

namespace detail {
/// Node i broadcast to a shape. One node is shared by all users that need the same shape.
constexpr int repeated(Subgraph& g, int i, const Shape& shape) {
  Node n{.op = &op::broadcast_to,
         .dtype = g.nodes[at(i)].dtype,
         .shape = shape,
         .attributes = {},
         .origin = g.nodes[at(i)].origin};
  n.inputs[0] = i;
  for (std::size_t k = at(i) + 1; k < g.nodes.size(); ++k) {
    if (g.nodes[k] == n) return static_cast<int>(k);
  }
  return append(g, n);
}
}  // namespace detail

/// Whether the pass has any effect.
constexpr bool has_no_common_cut(const SubgraphView& g) {
  const Node* const nodes = g.nodes.data();
  for (const Node *n = nodes, *end = nodes + g.nodes.size(); n != end; ++n) {
    if (n->op->kind != OpKind::elementwise) continue;
    SplitPoints common = ~0U;
    for (std::size_t k = 0; k < max_inputs && n->inputs[k] >= 0; ++k) {
      const Shape& input = nodes[n->inputs[k]].shape;
      if (input.rank != 0) common &= cuts_for(input, n->shape);
    }
    if (common == 0) return true;
  }
  return false;
}

/// If an elementwise node's operands have no common cut, those that are neither full nor scalar are broadcast in memory
/// first.
constexpr Subgraph materialize_broadcasts(const SubgraphView& g) {
  if (!has_no_common_cut(g)) return detail::copied(g);
  return detail::rewrite(g, [](Subgraph& to, Node n, int) {
    if (n.op->kind != OpKind::elementwise) return detail::append(to, n);
    SplitPoints common = detail::all_cuts(n.shape);
    for (int i : n.inputs) {
      if (i >= 0) common &= cuts_for(to.nodes[detail::at(i)].shape, n.shape);
    }
    for (int& i : n.inputs) {
      if (common != 0 || i < 0) continue;
      const Node input = to.nodes[detail::at(i)];
      if (cuts_for(input.shape, n.shape) == detail::all_cuts(n.shape)) continue;
      i = detail::repeated(to, i, n.shape);
    }
    return detail::append(to, n);
  });
}

}  // namespace crochet

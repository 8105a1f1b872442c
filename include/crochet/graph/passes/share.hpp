// SPDX-License-Identifier: Apache-2.0
// share: common-subexpression elimination by a hash table. Duplicates are left without users.
#pragma once
#include <bit>
#include <cstdint>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/prune.hpp>

namespace crochet {

namespace detail {
class NodeTable {
 public:
  constexpr explicit NodeTable(std::size_t nodes) : mask_(std::bit_ceil(2 * nodes + 1) - 1), slots_(mask_ + 1, -1) {}

  /// The table slot of an equal node, or the free slot for n.
  constexpr int& find(const Subgraph& g, const Node& n) {
    std::size_t h = hash(n) & mask_;
    int* const slots = slots_.data();
    const Node* const nodes = g.nodes.data();
    while (slots[h] >= 0 && !same(nodes[slots[h]], n)) h = (h + 1) & mask_;
    return slots[h];
  }

 private:
  /// 0 and -0 compare equal but are different constants.
  static constexpr bool same(const Node& a, const Node& b) {
    return a.op == b.op && a == b &&
           std::bit_cast<std::uint64_t>(a.attributes.reals[0]) == std::bit_cast<std::uint64_t>(b.attributes.reals[0]);
  }
  static constexpr std::size_t hash(const Node& n) {
    std::uint64_t h =
        std::bit_cast<std::uint64_t>(n.attributes.reals[0]) + static_cast<unsigned char>(*n.op->name.data());
    h = (h ^ static_cast<std::uint32_t>(n.attributes.ints[0])) * 0x9e3779b97f4a7c15U;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      h = (h ^ static_cast<std::uint32_t>(n.inputs[k])) * 0x9e3779b97f4a7c15U;
    }
    return static_cast<std::size_t>(h >> 20U);
  }

  std::size_t mask_;
  ConstexprVector<int> slots_;
};
}  // namespace detail

constexpr Subgraph share(const SubgraphView& g) {
  detail::NodeTable table(g.nodes.size());
  const ConstexprVector<char> live = live_nodes(g);
  return detail::rewrite(g, [&, needed = live.data()](Subgraph& to, const Node& n, int old) {
    if (needed[old] == 0) return -1;
    // Assignments have side effects, so equal ones are kept. Variables and placeholders are never equal.
    if (n.op->kind == OpKind::assign || n.op == &op::variable || n.op == &op::placeholder) return detail::append(to, n);
    int& slot = table.find(to, n);
    if (slot < 0) slot = detail::append(to, n);
    return slot;
  });
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// widen_operands: for devices whose products do not read bfloat16. Each operand that is stored so is converted before
// its product. Behind share.hpp: a copy that several products read would be in memory from the first to the last.
#pragma once
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

/// Whether the pass has any effect.
constexpr bool has_stored_operands(const SubgraphView& g) {
  for (const Node& n : g.nodes) {
    if (!n.is(op::matmul)) continue;
    for (const int in : {n.inputs[0], n.inputs[1]}) {
      if (g.nodes[detail::at(in)].dtype == DType::bfloat16) return true;
    }
  }
  return false;
}

constexpr Subgraph widen_operands(const SubgraphView& g) {
  return detail::rewrite(g, [](Subgraph& to, Node n, int) {
    for (std::size_t k = 0; n.is(op::matmul) && k < 2; ++k) {
      const Node& stored = to.nodes[detail::at(n.inputs[k])];
      if (stored.dtype != DType::bfloat16) continue;
      Node wide{.op = &op::cast,
                .dtype = DType::float32,
                .shape = stored.shape,
                .attributes = {.ints = {static_cast<std::int32_t>(DType::float32)}},
                .origin = n.origin};
      wide.inputs[0] = n.inputs[k];
      n.inputs[k] = detail::append(to, wide);
    }
    return detail::append(to, n);
  });
}

}  // namespace crochet

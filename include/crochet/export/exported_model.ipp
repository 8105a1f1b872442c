// SPDX-License-Identifier: Apache-2.0
// The compiled half of exported_model.hpp.
#pragma once

#include <crochet/export/exported_model.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/graph/frozen.hpp>

namespace crochet::detail {

CROCHET_INLINE ExportedNode described_node(const GraphParts& graph, const Node& n) {
  ExportedNode out{.op = n.op, .dtype = n.dtype, .shape = n.shape, .attributes = n.attributes};
  for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) out.inputs.push_back(n.inputs[k]);
  if (n.origin >= 0) out.name = name_of_node(graph, n.origin);
  return out;
}

CROCHET_INLINE ExportedModel describe_export(const GraphParts& graph, std::span<const std::string_view> outputs) {
  ConstexprVector<int> fetched;
  for (const std::string_view name : outputs) fetched.push_back(find_node(graph, name));
  Graph all;
  all.nodes.assign(graph.nodes.data(), graph.nodes.data() + graph.nodes.size());
  const Subgraph selected = simplify(all, fetched, ConstexprVector<int>{});
  ExportedModel model;
  for (const Node& n : selected.nodes) {
    if (n.is(op::placeholder)) model.placeholders.push_back(static_cast<int>(model.nodes.size()));
    model.nodes.push_back(described_node(graph, n));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    model.outputs.push_back({std::string(outputs[i]), selected.fetched[i]});
  }
  for (const PooledName& symbol : graph.symbols) model.symbols.emplace_back(graph.text_of(symbol));
  return model;
}

}  // namespace crochet::detail

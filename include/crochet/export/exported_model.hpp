// SPDX-License-Identifier: Apache-2.0
// ExportedModel: the part of a model that computes its outputs, with its weights, as data. Exports read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/name.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/export/exported_node.hpp>
#include <crochet/export/exported_variables.hpp>
#include <crochet/export/output_check.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/graph/core/op.hpp>
#include <crochet/graph/frozen.hpp>
#include <crochet/storage/checkpoint_format.hpp>

namespace crochet {

/// A named output.
struct ExportedOutput {
  std::string name;
  int node = -1;
};

/// The nodes that compute the outputs of a model, as data.
/// - Only what the outputs need: no loss, no optimizer, no slots. There are no assignments and no groups.
/// - The graph is simplified, before any fusion: constants are folded, equal nodes are shared, batch normalization by
///   moving averages is elementwise, max pooling precedes a bias and relu (graph/frozen.hpp, simplify).
/// - An output may be any node but a variable, also a placeholder. Two outputs may be one node.
struct ExportedModel {
  std::vector<ExportedNode> nodes;      ///< inputs before users
  std::vector<int> placeholders;        ///< nodes that are fed, in the order of the model; outputs need all of them
  std::vector<ExportedOutput> outputs;  ///< in the order of the names in the call
  std::vector<std::string> symbols;     ///< the names of the model's dynamic dimensions
  std::string checkpoint;               ///< the prefix of the checkpoint that the weights are from
  std::int64_t step = 0;                ///< its step; 0 if it has none

  [[nodiscard]] const ExportedNode& node(int i) const { return nodes[static_cast<std::size_t>(i)]; }
};

namespace detail {

/// A frozen graph of any size.
struct GraphParts {
  std::span<const Node> nodes;
  std::span<const PooledName> names, symbols;
  std::string_view text;

  [[nodiscard]] std::string_view text_of(const PooledName& p) const {
    return text.substr(static_cast<std::size_t>(p.begin), static_cast<std::size_t>(p.length));
  }
};

/// The description without the values of variables.
ExportedModel describe_export(const GraphParts& graph, std::span<const std::string_view> outputs);

}  // namespace detail

/// Describes what computes the outputs of a model. Variables have no values.
/// - An output that is not in the model, that is a variable, that changes a variable, or that is normalized by its
///   batch (batch_norm in training) is a compile error.
/// - Cost: runs passes over the graph. Not for a loop.
template <class Model, FixedString... Outputs>
ExportedModel described() {
  if constexpr (detail::ExportIsUsable<Model, Outputs...>) {
    const auto& graph = detail::ExportTables<Model>::graph;
    const std::string_view outputs[] = {Name<Outputs>::view()...};
    return detail::describe_export({graph.nodes, graph.names, graph.symbols, {graph.text.data(), graph.text.size()}},
                                   outputs);
  } else {
    return {};
  }
}

/// The same with the weights of the newest intact checkpoint of a Saver's folder. Changes no file, takes no lock, and
/// reports the checkpoint in one line; see Saver::must_restore.
/// - `exported_model<Model, "logits">(saver)`: Model is that of the training, or one with the same names and shapes.
/// - Throws IoError if there is no checkpoint, DataLossError if all are damaged, CheckpointMismatchError, with every
///   such variable, if one is missing or has another type or shape: as BasicPredictor.
template <class Model, FixedString... Outputs, io::CheckpointFormat Format>
ExportedModel exported_model(Saver<Format> saver) {
  ExportedModel model = described<Model, Outputs...>();
  if constexpr (detail::ExportIsUsable<Model, Outputs...>) {
    detail::ExportedPart part{model.nodes};
    const Restored restored = saver.must_restore(part);
    model.checkpoint = restored.prefix.string();
    model.step = restored.step;
  }
  return model;
}
/// The same from a folder of checkpoints.
template <class Model, FixedString... Outputs>
ExportedModel exported_model(const std::filesystem::path& folder) {
  return exported_model<Model, Outputs...>(Saver<>{folder});
}

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/exported_model.ipp>
#endif

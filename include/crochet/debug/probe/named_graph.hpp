// SPDX-License-Identifier: Apache-2.0
// NamedGraph: a model's graph as a message, with names that are safe in paths.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::debug {

/// A graph, its message, and what watches match of its nodes. Cost: one conversion of the graph, which is serialized
/// for its hash.
class NamedGraph {
 public:
  NamedGraph() = default;
  NamedGraph(const GraphTable& graph, std::string_view device);

  /// Whether this is the named form of `graph`.
  [[nodiscard]] bool is_of(const GraphTable& graph) const { return of_ == graph.nodes.data(); }
  [[nodiscard]] std::span<const GraphNode> nodes() const { return nodes_; }
  [[nodiscard]] const std::shared_ptr<const proto::GraphDef>& message() const { return message_; }
  /// The graph_hash of the message.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  /// The names of nodes, spelt as the message does. A name that a run fetches or targets is that of its node; the feed
  /// of a step function is not a node.
  [[nodiscard]] std::vector<std::string> spelt(std::span<const std::string_view> names, const ProbedRun& run) const;
  /// The same as tensors, `name:0`.
  [[nodiscard]] std::vector<std::string> spelt_tensors(std::span<const std::string_view> names,
                                                       const ProbedRun& run) const;
  /// The names that a run feeds, fetches and targets, and its step.
  [[nodiscard]] CoreMetadata metadata_of(const ProbedRun& run) const;

 private:
  [[nodiscard]] const std::string* node_named(std::string_view name, const ProbedRun& run) const;

  const GraphTable::Node* of_ = nullptr;
  std::shared_ptr<const proto::GraphDef> message_;
  std::vector<GraphNode> nodes_;
  std::uint64_t hash_ = 0;
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/probe/named_graph.ipp>
#endif

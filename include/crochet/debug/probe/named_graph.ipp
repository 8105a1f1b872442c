// SPDX-License-Identifier: Apache-2.0
// The compiled half of named_graph.hpp.
#pragma once

#include <crochet/debug/probe/named_graph.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/graph.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/debug/event/graph_hash.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/io/graph_def.hpp>
#include <crochet/io/serialized.hpp>

namespace crochet::debug {

CROCHET_INLINE NamedGraph::NamedGraph(const GraphTable& graph, std::string_view device) : of_(graph.nodes.data()) {
  proto::GraphDef message = io::graph_def(graph, device);
  make_names_safe(message);
  nodes_ = nodes_of(message);
  hash_ = graph_hash(io::serialized(message));
  message_ = std::make_shared<const proto::GraphDef>(std::move(message));
}

CROCHET_INLINE const std::string* NamedGraph::node_named(std::string_view name, const ProbedRun& run) const {
  for (std::size_t i = 0; i < run.fetch_nodes.size(); ++i) {
    if (run.fetches[i] == name) return &nodes_[static_cast<std::size_t>(run.fetch_nodes[i])].name;
  }
  for (std::size_t i = 0; i < run.target_nodes.size(); ++i) {
    if (run.targets[i] == name) return &nodes_[static_cast<std::size_t>(run.target_nodes[i])].name;
  }
  for (std::size_t i = 0; i < run.graph.nodes.size(); ++i) {
    if (run.graph.nodes[i].name == name) return &nodes_[i].name;
  }
  return nullptr;
}

CROCHET_INLINE std::vector<std::string> NamedGraph::spelt(std::span<const std::string_view> names,
                                                          const ProbedRun& run) const {
  std::vector<std::string> all;
  for (const std::string_view name : names) {
    const std::string* const node = node_named(name, run);
    all.push_back(node != nullptr ? *node : safe_node_name(name));
  }
  return all;
}

CROCHET_INLINE std::vector<std::string> NamedGraph::spelt_tensors(std::span<const std::string_view> names,
                                                                  const ProbedRun& run) const {
  std::vector<std::string> all = spelt(names, run);
  for (std::string& name : all) name += ":0";
  return all;
}

CROCHET_INLINE CoreMetadata NamedGraph::metadata_of(const ProbedRun& run) const {
  CoreMetadata metadata;
  metadata.global_step = run.step;
  metadata.input_names = spelt_tensors(run.feeds, run);
  metadata.output_names = spelt_tensors(run.fetches, run);
  metadata.target_nodes = spelt(run.targets, run);
  return metadata;
}

}  // namespace crochet::debug

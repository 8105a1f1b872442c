// SPDX-License-Identifier: Apache-2.0
// The graph of a debugged run, with the nodes that TensorFlow's debugger inserts.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// The debug operations on one output of a node.
struct GraphWatch {
  std::size_t node = 0;  ///< its index in the GraphDef
  std::int32_t slot = 0;
  std::vector<DebugOp> ops{};
};

/// What watches match of a node.
struct GraphNode {
  std::string name, op;
  io::DataType dtype = io::DataType::invalid;  ///< of its output
};
/// The nodes of a graph, in its order.
std::vector<GraphNode> nodes_of(const proto::GraphDef& graph);

/// Renames the nodes whose names are not safe paths (safe_names.hpp), and the references to them.
void make_names_safe(proto::GraphDef& graph);

/// Adds, for each watched output `n:k`, `__copy_n_k` (op Copy) and for each of its operations `__dbg_n:k_i_<op>`, with
/// the attributes that TensorFlow's servicer reads (gated_grpc) and those of the operation. `urls`: the destinations,
/// `file:///...` or `grpc://...`. Source: the graph that TensorFlow 1.15 runs and dumps.
void insert_debug_nodes(proto::GraphDef& graph, std::span<const GraphWatch> watches, std::span<const std::string> urls);

/// The graph of a debugged run, built on first use: not every observed run is published. Not thread-safe.
class DebugGraph {
 public:
  DebugGraph(std::shared_ptr<const proto::GraphDef> graph, std::vector<GraphWatch> watches,
             std::vector<std::string> urls)
      : graph_(std::move(graph)), watches_(std::move(watches)), urls_(std::move(urls)) {}

  /// The graph with its debug nodes. Cost: the first call copies and serializes the graph.
  [[nodiscard]] std::shared_ptr<const std::string> serialized();
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }

 private:
  std::shared_ptr<const proto::GraphDef> graph_;
  std::vector<GraphWatch> watches_;
  std::vector<std::string> urls_;
  std::shared_ptr<const std::string> serialized_;
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/debug_graph.ipp>
#endif

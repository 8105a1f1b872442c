// SPDX-License-Identifier: Apache-2.0
// ResolvedWatches: WatchOptions applied to a graph.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/debug/watch/watch_options.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// The debug operations of one node.
struct WatchedNode {
  std::string name;
  std::vector<DebugOp> ops{};
  std::string refused{};  ///< the first operation that does not support the node's element type; empty: none
};

/// The nodes of a graph, each with the debug operations that the options select.
class ResolvedWatches {
 public:
  /// `watched(node, op, dtype)` returns whether the hook's Watch includes the node. Throws LogicError for a malformed
  /// pattern or operation. An operation that does not support a node's element type is omitted and recorded in
  /// `refused`.
  template <class Watched>
  ResolvedWatches(WatchOptions options, std::span<const GraphNode> graph, Watched&& watched)
      : options_(std::move(options)) {
    std::vector<DebugOp> ops;
    for (const std::string& text : options_.debug_ops) ops.push_back(DebugOp::parse(text));
    if (ops.empty()) ops.emplace_back();
    const Regex name{options_.node_name_regex_allowlist}, op{options_.op_type_regex_allowlist},
        type{options_.tensor_dtype_regex_allowlist};
    for (const GraphNode& node : graph) {
      nodes_.push_back({node.name});
      const std::string_view dtype_name = name_of(node.dtype);
      if (node.dtype != io::DataType::invalid && watched(node.name, node.op, dtype_name) && type.match(dtype_name) &&
          op.match(node.op) && name.match(node.name)) {
        watch(nodes_.back(), ops, node.dtype);
        any_ = true;
      }
    }
    describe();
  }

  [[nodiscard]] const WatchOptions& options() const { return options_; }
  /// The node at this index of the graph.
  [[nodiscard]] const WatchedNode& node(std::size_t i) const { return nodes_.at(i); }
  [[nodiscard]] const std::vector<GraphWatch>& graph_watches() const { return graph_watches_; }
  /// Whether the options and `watched` select no node. A selected node counts even if its operations are refused.
  [[nodiscard]] bool choose_nothing() const { return !any_; }
  /// A text that is unique to these watches.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static void watch(WatchedNode& node, const std::vector<DebugOp>& ops, io::DataType type) {
    for (const DebugOp& op : ops) {
      if (op.takes(type)) {
        node.ops.push_back(op);
      } else if (node.refused.empty()) {
        node.refused = op.name();
      }
    }
  }
  void describe() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].ops.empty()) graph_watches_.push_back({i, 0, nodes_[i].ops});
    }
    for (const std::string& op : options_.debug_ops) text_ += op + '\n';
    text_ += options_.node_name_regex_allowlist + '\n' + options_.op_type_regex_allowlist + '\n' +
             options_.tensor_dtype_regex_allowlist;
  }

  WatchOptions options_;
  std::vector<WatchedNode> nodes_;
  std::vector<GraphWatch> graph_watches_;
  std::string text_;
  bool any_ = false;
};

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// The compiled half of debug_graph.hpp.
#pragma once

#include <crochet/debug/event/debug_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

namespace detail {

CROCHET_INLINE std::string input_name(const std::string& node, std::int32_t slot) {
  return slot == 0 ? node : node + ":" + std::to_string(slot);
}

CROCHET_INLINE proto::DataType type_of(const proto::NodeDef& node) {
  for (const char* key : {"T", "dtype"}) {
    if (const auto found = node.attr().find(key); found != node.attr().end()) return found->second.type();
  }
  return proto::DT_INVALID;
}

/// Inserts the debug nodes of watched outputs into a graph.
class DebugNodes {
 public:
  DebugNodes(proto::GraphDef& graph, std::span<const std::string> urls) : graph_(graph), urls_(urls) {}

  void watch(const GraphWatch& watch) {
    // A copy: adding nodes can move the nodes of the graph.
    const proto::NodeDef node = graph_.node(static_cast<int>(watch.node));
    const std::string copy = "__copy_" + node.name() + "_" + std::to_string(watch.slot);
    add_copy(node, copy, watch);
    // Consumers of a variable keep reading the variable, because a copy of a reference cannot be assigned to.
    const bool reference = node.op() == "VariableV2";
    Reader reader{reference ? "" : copy, {}};
    for (std::size_t i = 0; i < watch.ops.size(); ++i) {
      reader.waits_for.push_back("^" + add_op(node, copy, watch, i));
    }
    readers_.insert_or_assign(input_name(node.name(), watch.slot), std::move(reader));
  }

  /// Makes the consumers of watched outputs read the copy and wait until it is published.
  void redirect(int nodes) {
    for (int i = 0; i < nodes; ++i) {
      proto::NodeDef& node = *graph_.mutable_node(i);
      std::vector<std::string> waits;
      for (std::string& input : *node.mutable_input()) {
        const auto found = readers_.find(input);
        if (found == readers_.end()) continue;
        if (!found->second.copy.empty()) input = found->second.copy;
        for (const std::string& wait : found->second.waits_for) {
          if (std::find(waits.begin(), waits.end(), wait) == waits.end()) waits.push_back(wait);
        }
      }
      for (std::string& wait : waits) node.add_input(std::move(wait));
    }
  }

 private:
  struct Reader {
    std::string copy;
    std::vector<std::string> waits_for;
  };

  void add_copy(const proto::NodeDef& node, const std::string& name, const GraphWatch& watch) {
    proto::NodeDef& copy = add(name, "Copy", node.device(), input_name(node.name(), watch.slot));
    auto& attr = *copy.mutable_attr();
    attr["T"].set_type(type_of(node));
    attr["tensor_name"].set_s("");
    auto& specs = *attr["debug_ops_spec"].mutable_list();
    for (const DebugOp& op : watch.ops) {
      for (const std::string& url : urls_) {
        specs.add_s(std::string(op.name()) + ";" + url + ";" + (op.gated_grpc ? "1" : "0"));
      }
    }
  }

  std::string add_op(const proto::NodeDef& node, const std::string& copy, const GraphWatch& watch, std::size_t i) {
    const DebugOp& op = watch.ops[i];
    const std::string tensor = node.name() + ":" + std::to_string(watch.slot);
    const std::string name = "__dbg_" + tensor + "_" + std::to_string(i) + "_" + std::string(op.name());
    auto& attr = *add(name, op.name(), node.device(), copy).mutable_attr();
    attr["T"].set_type(type_of(node));
    attr["device_name"].set_s(node.device());
    attr["tensor_name"].set_s(tensor);
    auto& urls = *attr["debug_urls"].mutable_list();
    for (const std::string& url : urls_) urls.add_s(url);
    attr["gated_grpc"].set_b(op.gated_grpc);
    if (op.kind == DebugOp::Kind::numeric_summary) {
      attr["lower_bound"].set_f(op.lower_bound);
      attr["upper_bound"].set_f(op.upper_bound);
      attr["mute_if_healthy"].set_b(op.mute_if_healthy);
    }
    return name;
  }

  proto::NodeDef& add(const std::string& name, std::string_view op, const std::string& device,
                      const std::string& input) {
    proto::NodeDef& node = *graph_.add_node();
    node.set_name(name);
    node.set_op(std::string(op));
    node.set_device(device);
    node.add_input(input);
    return node;
  }

  proto::GraphDef& graph_;
  std::span<const std::string> urls_;
  std::map<std::string, Reader> readers_;
};

}  // namespace detail

CROCHET_INLINE std::vector<GraphNode> nodes_of(const proto::GraphDef& graph) {
  std::vector<GraphNode> nodes;
  nodes.reserve(static_cast<std::size_t>(graph.node_size()));
  for (const proto::NodeDef& node : graph.node()) {
    nodes.push_back({node.name(), node.op(), static_cast<io::DataType>(detail::type_of(node))});
  }
  return nodes;
}

CROCHET_INLINE void make_names_safe(proto::GraphDef& graph) {
  std::map<std::string, std::string> renamed;
  for (proto::NodeDef& node : *graph.mutable_node()) {
    if (is_safe_node_name(node.name())) continue;
    const std::string safe = safe_node_name(node.name());
    renamed.emplace(std::exchange(*node.mutable_name(), safe), safe);
  }
  if (renamed.empty()) return;
  for (proto::NodeDef& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      const bool control = input.starts_with('^');
      if (const auto found = renamed.find(input.substr(control ? 1 : 0)); found != renamed.end()) {
        input = (control ? "^" : "") + found->second;
      }
    }
  }
}

CROCHET_INLINE void insert_debug_nodes(proto::GraphDef& graph, std::span<const GraphWatch> watches,
                                       std::span<const std::string> urls) {
  const int nodes = graph.node_size();
  detail::DebugNodes inserted{graph, urls};
  for (const GraphWatch& watch : watches) inserted.watch(watch);
  inserted.redirect(nodes);
}

CROCHET_INLINE std::shared_ptr<const std::string> DebugGraph::serialized() {
  if (serialized_ == nullptr) {
    proto::GraphDef graph = *graph_;
    insert_debug_nodes(graph, watches_, urls_);
    serialized_ = std::make_shared<const std::string>(graph.SerializeAsString());
  }
  return serialized_;
}

}  // namespace crochet::debug

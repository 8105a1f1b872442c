// SPDX-License-Identifier: Apache-2.0
// The graph of a device in a dump: the tensors that each node reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::debug {

/// An output of a node: `<node>:<slot>`.
struct TensorName {
  std::string node{};
  std::int32_t slot = 0;

  [[nodiscard]] std::string text() const { return node + ":" + std::to_string(slot); }
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

/// Parses `node` or `node:slot`; a suffix that is not a number is part of the name.
inline TensorName parse_tensor_name(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  TensorName name;
  if (colon != text.npos && detail::read_decimal(text.substr(colon + 1), name.slot)) {
    name.node = text.substr(0, colon);
    return name;
  }
  name.node = text;
  name.slot = 0;
  return name;
}

/// The nodes of a graph without the debugger's own: copies of watched tensors and debug operations.
class DumpGraph {
 public:
  struct Node {
    std::string name{};
    std::string op{};
    std::string device{};
    std::vector<TensorName> inputs{};  // data inputs; a copy is replaced by its original
    std::uint32_t position = 0;        // topological order: inputs come before their consumers
  };

  DumpGraph() = default;
  /// Parses a serialized GraphDef node by node. Throws DataLossError, without a file name, for bytes that are not a
  /// GraphDef, for two nodes with one name, and for a graph that needs more memory than 64 MiB plus 16 times its
  /// serialized size. Graphs written by a program need less than half of that.
  explicit DumpGraph(std::string_view graph_def)
      : memory_left_((std::uint64_t{64} << 20) + 16 * std::uint64_t{graph_def.size()}) {
    each_node(graph_def, [&](Node node) {
      if (node.name.starts_with(copy_prefix) && !node.inputs.empty()) copies_.emplace(node.name, node.inputs.front());
    });
    each_node(graph_def, [&](Node node) {
      if (node.name.starts_with(copy_prefix) || node.name.starts_with(debug_prefix)) return;
      if (!places_.emplace(node.name, nodes_.size()).second) {
        throw DataLossError("its graph has two nodes " + node.name);
      }
      nodes_.push_back(without_copies(std::move(node)));
    });
    copies_.clear();
    order();
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Null if there is no such node.
  [[nodiscard]] const Node* find(const std::string& name) const {
    const auto at = places_.find(name);
    return at == places_.end() ? nullptr : &nodes_[at->second];
  }

 private:
  static constexpr std::string_view copy_prefix = "__copy_", debug_prefix = "__dbg_";

  // Upper bounds of the memory of a node and of an input: the objects in growing arrays, and their share of the tables.
  static constexpr std::uint64_t node_bytes = 512, input_bytes = 192;

  template <class Use>
  void each_node(std::string_view graph_def, Use use) {
    std::uint64_t left = memory_left_;
    io::for_each_field(graph_def, [&](const io::WireField& field) {
      if (field.number == 1 && field.type == io::WireType::bytes) use(read(field.bytes, left));
    });
  }
  /// Parses a node with its data inputs, without control inputs.
  static Node read(std::string_view bytes, std::uint64_t& left) {
    const auto take = [&](std::uint64_t bytes_of_it) {
      if (bytes_of_it > left) throw DataLossError("its graph would take too much memory");
      left -= bytes_of_it;
    };
    Node node;
    take(node_bytes);
    io::for_each_field(bytes, [&](const io::WireField& field) {
      if (field.type != io::WireType::bytes) return;
      if (field.number == 1 || field.number == 2 || field.number == 4) {
        take(2 * field.bytes.size());
        (field.number == 1 ? node.name : field.number == 2 ? node.op : node.device) = field.bytes;
      } else if (field.number == 3 && !field.bytes.starts_with('^')) {
        take(input_bytes + 2 * field.bytes.size());
        node.inputs.push_back(parse_tensor_name(field.bytes));
      }
    });
    return node;
  }
  /// Replaces inputs that are copies with the copied tensors.
  Node without_copies(Node node) const {
    for (TensorName& input : node.inputs) {
      const auto copied = copies_.find(input.node);
      if (copied != copies_.end()) input = copied->second;
    }
    return node;
  }

  /// The index of the node that produces this tensor; SIZE_MAX for a node of another device, and for the back edge of a
  /// loop.
  [[nodiscard]] std::size_t producer(const TensorName& tensor) const {
    const auto at = places_.find(tensor.node);
    return at == places_.end() || nodes_[at->second].op.ends_with("NextIteration") ? SIZE_MAX : at->second;
  }
  /// Sets the positions in topological order. Nodes on a cycle come last, in the order of the file.
  void order() {
    std::vector<std::vector<std::size_t>> consumers(nodes_.size());
    std::vector<std::size_t> waits_for(nodes_.size()), ready;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].position = UINT32_MAX;
      for (const TensorName& input : nodes_[i].inputs) {
        const std::size_t from = producer(input);
        if (from != SIZE_MAX) consumers[from].push_back(i), ++waits_for[i];
      }
      if (waits_for[i] == 0) ready.push_back(i);
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
      nodes_[ready[next]].position = static_cast<std::uint32_t>(next);
      for (const std::size_t consumer : consumers[ready[next]]) {
        if (--waits_for[consumer] == 0) ready.push_back(consumer);
      }
    }
  }

  std::vector<Node> nodes_{};
  std::unordered_map<std::string, std::size_t> places_{};
  std::unordered_map<std::string, TensorName> copies_{};  // used during parsing
  std::uint64_t memory_left_ = 0;                         // budget for each of the two passes over the bytes
};

}  // namespace crochet::debug

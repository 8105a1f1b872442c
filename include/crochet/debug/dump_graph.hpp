// SPDX-License-Identifier: Apache-2.0
// The graph of a device as a dump holds it: which tensors feed which node.
#pragma once

#include <crochet/proto/graph.pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/debug/dump_names.hpp>
#include <crochet/error.hpp>

namespace crochet::debug {

/// An output of a node: `<node>:<slot>`.
struct TensorName {
  std::string node{};
  std::int32_t slot = 0;

  [[nodiscard]] std::string text() const { return node + ":" + std::to_string(slot); }
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

/// Reads `node` or `node:slot`; a slot that is no number belongs to the name.
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

/// The nodes of a graph without those that the debugger put in: copies of watched tensors and debug operations.
class DumpGraph {
 public:
  struct Node {
    std::string name{};
    std::string op{};
    std::string device{};
    std::vector<TensorName> inputs{};  // data only, and never a copy
    std::uint32_t position = 0;        // in an order in which inputs come before what they feed
  };

  DumpGraph() = default;
  /// Throws DataLossError, without the name of a file, where two nodes have one name.
  explicit DumpGraph(const proto::GraphDef& graph) {
    for (const proto::NodeDef& node : graph.node()) {
      if (node.name().starts_with(copy_prefix) && node.input_size() > 0) {
        copies_.emplace(node.name(), parse_tensor_name(node.input(0)));
      }
    }
    for (const proto::NodeDef& node : graph.node()) {
      if (node.name().starts_with(copy_prefix) || node.name().starts_with(debug_prefix)) continue;
      if (!places_.emplace(node.name(), nodes_.size()).second) {
        throw DataLossError("its graph has two nodes " + node.name());
      }
      nodes_.push_back(read(node));
    }
    copies_.clear();
    order();
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Null where there is none.
  [[nodiscard]] const Node* find(const std::string& name) const {
    const auto at = places_.find(name);
    return at == places_.end() ? nullptr : &nodes_[at->second];
  }

 private:
  static constexpr std::string_view copy_prefix = "__copy_", debug_prefix = "__dbg_";

  Node read(const proto::NodeDef& from) const {
    Node node{from.name(), from.op(), from.device(), {}};
    for (const std::string& input : from.input()) {
      if (input.starts_with('^')) continue;  // only waited for
      TensorName name = parse_tensor_name(input);
      const auto copied = copies_.find(name.node);
      node.inputs.push_back(copied == copies_.end() ? std::move(name) : copied->second);
    }
    return node;
  }

  /// The place of the node that makes this tensor; SIZE_MAX where it is of another device, or the edge leads back to
  /// the begin of a loop.
  [[nodiscard]] std::size_t producer(const TensorName& tensor) const {
    const auto at = places_.find(tensor.node);
    return at == places_.end() || nodes_[at->second].op.ends_with("NextIteration") ? SIZE_MAX : at->second;
  }
  /// Sets the positions. What lies on a cycle comes last, in the order of the file.
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
  std::unordered_map<std::string, TensorName> copies_{};  // while it is read
};

}  // namespace crochet::debug

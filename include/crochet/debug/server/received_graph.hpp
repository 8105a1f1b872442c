// SPDX-License-Identifier: Apache-2.0
// ReceivedGraph: a graph received on a debug stream, with its node names and gated operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <crochet/proto/graph.pb.h>

#include <crochet/debug/event/parsed_size.hpp>
#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/received_names.hpp>
#include <crochet/debug/server/stream_limits.hpp>
#include <crochet/debug/watch/watch_key.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::debug {

struct ReceivedGraph {
  std::string device;
  std::uint64_t hash = 0;          ///< from the sender; not verified
  std::int64_t wall_time = 0;      ///< microseconds since 1970
  std::string graph_def;           ///< serialized
  std::vector<std::string> nodes;  ///< names, without the inserted debug nodes (`__copy_`, `__dbg_`)
  std::vector<WatchKey> gated;     ///< operations that publish nothing until they are enabled
};

namespace detail {

/// Calls `use` with the bytes of each node. A graph of 64 MB can have millions of empty nodes, which would need
/// gigabytes as parsed messages, so nodes are parsed one at a time.
template <class Use>
void for_each_node(std::string_view graph_def, Use use) {
  while (!graph_def.empty()) {
    std::optional<io::WireField> field;
    try {
      field = io::take_field(graph_def);
    } catch (const DataLossError&) {
      stream_is_wrong("a graph is no GraphDef");
    }
    if (field->number == 1 && field->type == io::WireType::bytes) use(field->bytes);
  }
}

inline constexpr std::uint64_t max_node_memory = std::uint64_t{8} << 20;  // bytes

/// Parses a node. A node that needs more memory, such as one with large constants, is reduced to its name.
inline proto::NodeDef read_node(std::string_view bytes) {
  proto::NodeDef node;
  try {
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    parsed_size(*proto::NodeDef::descriptor(), stream, bytes.size(), max_node_memory);
    if (!node.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) throw DataLossError("");
  } catch (const ResourceExhaustedError&) {
    io::for_each_field(bytes, [&](const io::WireField& field) {
      if (field.number == 1) node.set_name(std::string(field.bytes));
    });
  } catch (const DataLossError&) {
    stream_is_wrong("a node of a graph cannot be read");
  }
  return node;
}

/// Appends the watch key of a gated debug node.
inline void note_gated(const proto::NodeDef& node, const StreamLimits& limits, std::vector<WatchKey>& gated) {
  const auto gate = node.attr().find("gated_grpc");
  const auto tensor = node.attr().find("tensor_name");
  if (gate == node.attr().end() || !gate->second.b() || tensor == node.attr().end()) return;
  gated.push_back(require_watch_key(tensor->second.s() + ":" + node.op(), limits));
}

}  // namespace detail

/// Fills `nodes` and `gated`. Throws DataLossError for bytes that are not a GraphDef and for invalid node names, and
/// ResourceExhaustedError for too many nodes. Cost: each node is parsed once and then released.
inline void read_received_graph(ReceivedGraph& graph, const StreamLimits& limits) {
  std::size_t count = 0;
  detail::for_each_node(graph.graph_def, [&](std::string_view bytes) {
    require_at_most(++count, limits.graph_nodes, "nodes in one graph");
    const proto::NodeDef node = detail::read_node(bytes);
    if (node.name().starts_with("__dbg_")) {
      detail::note_gated(node, limits, graph.gated);
    } else if (!node.name().starts_with("__copy_")) {
      require_node_name(node.name(), limits);
      graph.nodes.push_back(node.name());
    }
  });
}

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// ReceivedGraph: a graph that came on a debug stream, and what is read in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <crochet/proto/graph.pb.h>

#include <crochet/debug/received_names.hpp>
#include <crochet/debug/stream_error.hpp>
#include <crochet/debug/stream_limits.hpp>
#include <crochet/debug/watch_key.hpp>

namespace crochet::debug {

struct ReceivedGraph {
  std::string device;
  std::uint64_t hash = 0;          ///< as the sender says; nobody checks it
  std::int64_t wall_time = 0;      ///< microseconds since 1970
  std::string graph_def;           ///< serialized
  std::vector<std::string> nodes;  ///< names, without those that a debugger has inserted (`__copy_`, `__dbg_`)
  std::vector<WatchKey> gated;     ///< ops that send nothing until they are switched on
};

namespace detail {

/// Calls `use` with the bytes of each node. A graph of 64 MB can have millions of empty nodes, and as messages they
/// would take gigabytes: so they are made one at a time.
template <class Use>
void for_each_node(std::string_view graph_def, Use use) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(graph_def.data()),
                                            static_cast<int>(graph_def.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(1, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&in, tag)) stream_is_wrong("a graph is no GraphDef");
      continue;
    }
    std::uint32_t size = 0;
    const bool sized = in.ReadVarint32(&size);
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (!sized || size > graph_def.size() - at || !in.Skip(static_cast<int>(size))) {
      stream_is_wrong("a graph is no GraphDef");
    }
    use(graph_def.substr(at, size));
  }
  if (!in.ConsumedEntireMessage()) stream_is_wrong("a graph is no GraphDef");
}

/// A node, or, of one so large that it must be full of constants, its name alone.
inline proto::NodeDef read_node(std::string_view bytes) {
  proto::NodeDef node;
  const auto size = static_cast<int>(bytes.size());
  bool good = true;
  if (bytes.size() <= std::size_t{1} << 20) {
    good = node.ParseFromArray(bytes.data(), size);
  } else {
    using google::protobuf::internal::WireFormatLite;
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
    while (const std::uint32_t tag = good ? in.ReadTag() : 0) {
      good = tag == WireFormatLite::MakeTag(1, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)
                 ? WireFormatLite::ReadString(&in, node.mutable_name())
                 : WireFormatLite::SkipField(&in, tag);
    }
    good = good && in.ConsumedEntireMessage();
  }
  if (!good) stream_is_wrong("a node of a graph cannot be read");
  return node;
}

/// The key that a debug node watches, if it is gated.
inline void note_gated(const proto::NodeDef& node, const StreamLimits& limits, std::vector<WatchKey>& gated) {
  const auto gate = node.attr().find("gated_grpc");
  const auto tensor = node.attr().find("tensor_name");
  if (gate == node.attr().end() || !gate->second.b() || tensor == node.attr().end()) return;
  gated.push_back(require_watch_key(tensor->second.s() + ":" + node.op(), limits));
}

}  // namespace detail

/// Fills in `nodes` and `gated`. Throws DataLossError if the bytes are no GraphDef with names that can be ones of
/// nodes, ResourceExhaustedError if it has too many. Cost: each node is parsed once, and kept for no longer.
inline void read_received_graph(ReceivedGraph& graph, const StreamLimits& limits) {
  std::size_t count = 0;
  detail::for_each_node(graph.graph_def, [&](std::string_view bytes) {
    detail::require_at_most(++count, limits.graph_nodes, "nodes in one graph");
    const proto::NodeDef node = detail::read_node(bytes);
    if (node.name().starts_with("__dbg_")) {
      detail::note_gated(node, limits, graph.gated);
    } else if (!node.name().starts_with("__copy_")) {
      detail::require_node_name(node.name(), limits);
      graph.nodes.push_back(node.name());
    }
  });
}

}  // namespace crochet::debug

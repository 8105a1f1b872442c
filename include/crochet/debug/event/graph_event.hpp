// SPDX-License-Identifier: Apache-2.0
// The events of a graph: one for a file, chunks for a server.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <crochet/proto/event.pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/debug/event/graph_hash.hpp>

namespace crochet::debug {

/// Maximum bytes of a tensor or graph in one message; with its frame, a message stays below gRPC's default limit.
inline constexpr std::size_t chunk_bytes = 4000 * 1024;

/// The number of chunks for so many bytes; 0 for 0 bytes.
constexpr std::size_t chunks_of(std::size_t bytes) { return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0); }

/// The event of a graph's file: the time in microseconds and the graph's bytes.
inline proto::Event graph_event(std::string_view serialized_graph, std::int64_t microseconds) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(microseconds));
  event.set_graph_def(serialized_graph.data(), serialized_graph.size());
  return event;
}

/// The events that send a graph to a server. Each begins with `<hash>,<device>,<time>|<index>|<count>|`. An empty graph
/// has no events. The device's name must not contain `,` or `|`.
inline std::vector<proto::Event> graph_chunks(std::string_view serialized_graph, std::string_view device,
                                              std::int64_t microseconds) {
  const std::size_t count = chunks_of(serialized_graph.size());
  const std::string key = std::to_string(graph_hash(serialized_graph)) + "," + std::string(device) + "," +
                          std::to_string(microseconds) + "|";
  std::vector<proto::Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view part = serialized_graph.substr(i * chunk_bytes, chunk_bytes);
    std::string bytes = key + std::to_string(i) + "|" + std::to_string(count) + "|";
    bytes += part;
    events.push_back(graph_event(bytes, microseconds));
  }
  return events;
}

}  // namespace crochet::debug

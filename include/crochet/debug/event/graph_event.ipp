// SPDX-License-Identifier: Apache-2.0
// The compiled half of graph_event.hpp.
#pragma once

#include <crochet/debug/event/graph_event.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/graph_hash.hpp>

namespace crochet::debug {

CROCHET_INLINE proto::Event graph_event(std::string_view serialized_graph, std::int64_t microseconds) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(microseconds));
  event.set_graph_def(serialized_graph.data(), serialized_graph.size());
  return event;
}

CROCHET_INLINE std::vector<proto::Event> graph_chunks(std::string_view serialized_graph, std::string_view device,
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

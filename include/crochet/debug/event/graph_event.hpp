// SPDX-License-Identifier: Apache-2.0
// The events of a graph: one for a file, chunks for a server.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <crochet/io/messages.hpp>

namespace crochet::debug {

/// Maximum bytes of a tensor or graph in one message; with its frame, a message stays below gRPC's default limit.
inline constexpr std::size_t chunk_bytes = 4000 * 1024;

/// The number of chunks for so many bytes; 0 for 0 bytes.
constexpr std::size_t chunks_of(std::size_t bytes) { return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0); }

/// The event of a graph's file: the time in microseconds and the graph's bytes.
proto::Event graph_event(std::string_view serialized_graph, std::int64_t microseconds);

/// The events that send a graph to a server. Each begins with `<hash>,<device>,<time>|<index>|<count>|`. An empty graph
/// has no events. The device's name must not contain `,` or `|`.
std::vector<proto::Event> graph_chunks(std::string_view serialized_graph, std::string_view device,
                                       std::int64_t microseconds);

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/graph_event.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// Parses one chunk of a graph on a debug stream: `<hash>,<device>,<microseconds>|<index>|<count>|` and bytes of a
// GraphDef.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/received_names.hpp>
#include <crochet/debug/server/stream_limits.hpp>

namespace crochet::debug::detail {

struct GraphChunk {
  std::string_view key;  ///< equal for all chunks of a graph
  std::uint64_t hash = 0;
  std::string_view device;
  std::int64_t wall_time = 0;
  std::size_t index = 0, count = 0;
  std::string_view bytes;
};

/// Returns the text before `end` and removes it, with `end`, from `text`.
inline std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) stream_is_wrong("a graph does not begin with hash,device,time|index|count|");
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + 1);
  return before;
}

template <class Number>
Number require_number(std::string_view digits, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || digits.front() == '-') {
    stream_is_wrong(printable(digits) + " is no " + what + " of a graph");
  }
  return number;
}

/// The result views `text`. Throws DataLossError for any other format.
inline GraphChunk parse_graph_chunk(std::string_view text, const StreamLimits& limits) {
  GraphChunk chunk;
  std::string_view rest = text.substr(0, limits.name_bytes + 128);  // limits the search for `|`
  chunk.key = cut(rest, '|');
  chunk.index = require_number<std::size_t>(cut(rest, '|'), "chunk index");
  chunk.count = require_number<std::size_t>(cut(rest, '|'), "number of chunks");
  chunk.bytes = text.substr(static_cast<std::size_t>(rest.data() - text.data()));
  std::string_view key = chunk.key;
  chunk.hash = require_number<std::uint64_t>(cut(key, ','), "hash");
  chunk.device = cut(key, ',');
  chunk.wall_time = require_number<std::int64_t>(key, "time");
  require_device_name(chunk.device, limits);
  if (chunk.index >= chunk.count) stream_is_wrong("a graph has no chunk " + std::to_string(chunk.index));
  require_at_most(chunk.count, limits.chunks, "chunks of one graph");
  if (chunk.bytes.empty()) stream_is_wrong("a chunk of a graph is empty");
  return chunk;
}

}  // namespace crochet::debug::detail

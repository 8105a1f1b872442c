// SPDX-License-Identifier: Apache-2.0
// Validates the two JSON texts of a debug stream: the place of a chunk, and the metadata of a run.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/parse_core_metadata.hpp>
#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/received_names.hpp>
#include <crochet/debug/server/stream_limits.hpp>

namespace crochet::debug {

namespace detail {

using Json = nlohmann::json;

/// Parses one flat object of numbers, texts and lists of them; duplicate members are an error.
inline Json parse_flat_object(std::string_view text, const std::string& name) {
  std::set<std::string> members;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > 2) stream_is_wrong(name + " has parts in parts");
    if (event == Json::parse_event_t::key && !members.insert(value.get<std::string>()).second) {
      stream_is_wrong(name + " says " + printable(value.get<std::string>()) + " twice");
    }
    return true;
  };
  try {
    Json object = Json::parse(text, watch);
    if (!object.is_object()) stream_is_wrong(name + " is no JSON object");
    return object;
  } catch (const Json::exception&) {  // its message would contain the peer's bytes
    stream_is_wrong(name + " is no JSON: " + printable(text));
  }
}

inline const Json& require_member(const Json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end()) stream_is_wrong(name + " has no \"" + key + "\" (keys are camelCase in plug-in data)");
  return *found;
}

inline std::int64_t require_integer(const Json& object, const char* key, const std::string& name) {
  const Json& value = require_member(object, key, name);
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > most)) {
    stream_is_wrong(name + " has no whole number as \"" + key + "\"");
  }
  return value.get<std::int64_t>();
}

inline std::string require_text(const Json& value, const char* key, const std::string& name) {
  if (!value.is_string()) stream_is_wrong(name + " has no text in \"" + key + "\"");
  return value.get<std::string>();
}

}  // namespace detail

/// The place of a chunk: `DebuggerEventMetadata` in JSON. `index` is less than `count`; `count` is not verified.
struct ChunkPlace {
  std::string device;
  std::int64_t index = 0;
  std::int64_t count = 1;  ///< 1: the tensor is whole
};

/// Throws DataLossError for malformed text and ResourceExhaustedError above a limit.
inline ChunkPlace parse_chunk_place(std::string_view json, const StreamLimits& limits) {
  require_at_most(json.size(), limits.plugin_bytes, "bytes of plug-in data");
  const std::string name = "the plug-in data";
  const detail::Json object = detail::parse_flat_object(json, name);
  ChunkPlace place{detail::require_text(detail::require_member(object, "device", name), "device", name),
                   detail::require_integer(object, "chunkIndex", name),
                   detail::require_integer(object, "numChunks", name)};
  require_device_name(place.device, limits);
  if (place.count == 0) place.count = 1;  // TensorFlow also treats 0 as a whole tensor
  if (place.count < 0 || place.index < 0 || place.index >= place.count) {
    stream_is_wrong("there is no chunk " + std::to_string(place.index) + " of " + std::to_string(place.count));
  }
  require_at_most(static_cast<std::uint64_t>(place.count), limits.chunks, "chunks of one tensor");
  return place;
}

/// The metadata of a run, from its sender.
struct ReceivedMetadata {
  std::int64_t wall_time = 0;  ///< microseconds since 1970
  CoreMetadata run;
  std::string grpc_path;  ///< path of the address at the sender: "" or "/some/path"
  std::string json;       ///< the original text
};

/// Throws the exceptions of parse_chunk_place. Unknown members are ignored.
inline ReceivedMetadata parse_received_metadata(std::string json, const StreamLimits& limits) {
  require_at_most(json.size(), limits.metadata_bytes, "bytes of core metadata");
  const std::string name = "the core metadata";
  const detail::Json object = detail::parse_flat_object(json, name);
  ReceivedMetadata metadata;
  try {
    metadata.run = parse_core_metadata(json);
  } catch (const DataLossError& error) {
    stream_is_wrong(error.what());
  }
  if (object.contains("grpc_path")) metadata.grpc_path = detail::require_text(object["grpc_path"], "grpc_path", name);
  metadata.json = std::move(json);
  return metadata;
}

}  // namespace crochet::debug

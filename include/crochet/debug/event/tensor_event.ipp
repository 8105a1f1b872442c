// SPDX-License-Identifier: Apache-2.0
// The compiled half of tensor_event.hpp.
#pragma once

#include <crochet/debug/event/tensor_event.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/string_chunks.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <nlohmann/json.hpp>

namespace crochet::debug {

CROCHET_INLINE std::string debugger_json(std::string_view device, std::int32_t slot, std::size_t chunks,
                                         std::size_t chunk) {
  nlohmann::ordered_json json;
  json["device"] = device;
  json["outputSlot"] = slot;
  json["numChunks"] = chunks;
  json["chunkIndex"] = chunk;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace detail {

/// The event without the elements.
CROCHET_INLINE proto::Event tensor_frame(const DebugEvent& debug_event, std::size_t chunk, std::size_t chunks) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(debug_event.microseconds));
  event.set_allocated_summary(new proto::Summary);  // not by mutable_summary: see summary_proto.ipp
  proto::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(std::string(debug_event.node));
  value.set_node_name(watch_key(debug_event));
  auto& plugin = *value.mutable_metadata()->mutable_plugin_data();
  plugin.set_plugin_name("debugger");
  plugin.set_content(debugger_json(debug_event.device, debug_event.slot, chunks, chunk));
  value.set_allocated_tensor(new proto::TensorProto);
  proto::TensorProto& tensor = *value.mutable_tensor();
  tensor.set_dtype(static_cast<proto::DataType>(debug_event.tensor.dtype));
  auto& shape = *tensor.mutable_tensor_shape();
  for (const std::int64_t extent : debug_event.tensor.shape) shape.add_dim()->set_size(extent);
  return event;
}
CROCHET_INLINE void add_strings(proto::Event& event, std::span<const std::string> strings) {
  proto::TensorProto& tensor = *event.mutable_summary()->mutable_value(0)->mutable_tensor();
  for (const std::string& text : strings) tensor.add_string_val(text);
}

}  // namespace detail

CROCHET_INLINE proto::Event tensor_event(const DebugEvent& debug_event, std::size_t chunk, std::size_t chunks) {
  proto::Event event = detail::tensor_frame(debug_event, chunk, chunks);
  detail::add_strings(event, debug_event.tensor.strings);
  const std::span<const std::byte> all = debug_event.tensor.bytes;
  const std::size_t begin = chunks == 1 ? 0 : chunk * chunk_bytes;
  const std::size_t size = chunks == 1 ? all.size() : std::min(chunk_bytes, all.size() - begin);
  if (size > 0) {
    event.mutable_summary()->mutable_value(0)->mutable_tensor()->set_tensor_content(all.data() + begin, size);
  }
  return event;
}

namespace detail {

CROCHET_INLINE std::vector<proto::Event> string_events(const DebugEvent& debug_event) {
  const std::vector<std::span<const std::string>> chunks =
      string_chunks(debug_event.tensor.strings, watch_key(debug_event));
  std::vector<proto::Event> events;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    add_strings(events.emplace_back(tensor_frame(debug_event, i, chunks.size())), chunks[i]);
  }
  return events;
}

}  // namespace detail

CROCHET_INLINE std::vector<proto::Event> tensor_events(const DebugEvent& debug_event) {
  if (debug_event.tensor.dtype == io::DataType::string) return detail::string_events(debug_event);
  const std::size_t chunks = tensor_chunks(debug_event.tensor.bytes.size());
  std::vector<proto::Event> events;
  for (std::size_t i = 0; i < chunks; ++i) events.push_back(tensor_event(debug_event, i, chunks));
  return events;
}

}  // namespace crochet::debug

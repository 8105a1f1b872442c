// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_message.hpp.
#pragma once

#include <crochet/io/event_message.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/io/event_record.hpp>
#include <crochet/io/event_tensor.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::io::detail {

/// Adds the doubles of a repeated field, packed or not.
CROCHET_INLINE void append_doubles(std::vector<double>& to, const WireField& field) {
  if (field.type != WireType::bytes) return to.push_back(as_double(field));
  to.reserve(to.size() + field.bytes.size() / sizeof(double));
  for (std::string_view rest = field.bytes; !rest.empty();) {
    to.push_back(std::bit_cast<double>(take_fixed<std::uint64_t>(rest)));
  }
}

CROCHET_INLINE EventHistogram event_histogram(std::string_view message) {
  EventHistogram to;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.min = as_double(field);
    if (field.number == 2) to.max = as_double(field);
    if (field.number == 3) to.count = as_double(field);
    if (field.number == 4) to.sum = as_double(field);
    if (field.number == 5) to.sum_squares = as_double(field);
    if (field.number == 6) append_doubles(to.bucket_limits, field);
    if (field.number == 7) append_doubles(to.bucket_counts, field);
  });
  return to;
}

CROCHET_INLINE EventImage event_image(std::string_view message) {
  EventImage to;
  to.encoded.emplace_back();
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.height = as_signed(field);
    if (field.number == 2) to.width = as_signed(field);
    if (field.number == 3) to.channels = as_signed(field);
    if (field.number == 4) to.encoded.front() = field.bytes;
  });
  return to;
}

CROCHET_INLINE EventAudio event_audio(std::string_view message) {
  EventAudio to;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.sample_rate = static_cast<double>(as_float(field));
    if (field.number == 2) to.channels = as_signed(field);
    if (field.number == 3) to.frames = as_signed(field);
    if (field.number == 4) to.encoded = field.bytes;
  });
  return to;
}

CROCHET_INLINE EventSessionLog event_session_log(std::string_view message) {
  EventSessionLog to;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.status = static_cast<EventSessionLog::Status>(field.value & 0x7fffffff);
    if (field.number == 2) to.checkpoint_path = field.bytes;
    if (field.number == 3) to.message = field.bytes;
  });
  return to;
}

CROCHET_INLINE EventLogMessage event_log_message(std::string_view message) {
  EventLogMessage to;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.level = static_cast<std::int32_t>(field.value & 0x7fffffff);
    if (field.number == 2) to.message = field.bytes;
  });
  return to;
}

/// The first non-empty text in field `number` of a message; empty if there is none.
CROCHET_INLINE std::string_view text_in(std::string_view message, std::uint64_t number) {
  std::string_view text;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == number && text.empty()) text = field.bytes;
  });
  return text;
}

CROCHET_INLINE void read_summary_value(std::string_view message, TagPlugins& plugins, EventRecord& to) {
  std::string_view tensor;
  bool is_tensor = false;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.tag = field.bytes;
    if (field.number == 9) to.plugin = text_in(text_in(field.bytes, 1), 1);
    if (field.number == 2) to.content = EventScalar{static_cast<double>(as_float(field))};
    if (field.number == 4) to.content = event_image(field.bytes);
    if (field.number == 5) to.content = event_histogram(field.bytes);
    if (field.number == 6) to.content = event_audio(field.bytes);
    if (field.number == 8) tensor = field.bytes, is_tensor = true;
  });
  if (!to.plugin.empty()) {
    plugins.try_emplace(to.tag, to.plugin);
  } else if (const auto known = plugins.find(to.tag); known != plugins.end()) {
    to.plugin = known->second;
  }
  if (is_tensor) to.content = content_of(event_tensor(tensor), to.plugin);
}

CROCHET_INLINE EventParts read_event(std::string_view message) {
  EventParts parts;
  EventRecord& to = parts.record;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1) to.wall_time = as_double(field);
    if (field.number == 2) to.step = as_signed(field);
    if (field.number == 3) to.content = EventFileVersion{std::string(field.bytes)};
    if (field.number == 4) to.content = EventGraph{std::string(field.bytes)};
    if (field.number == 5) parts.summary = field.bytes;
    if (field.number == 6) to.content = event_log_message(field.bytes);
    if (field.number == 7) to.content = event_session_log(field.bytes);
    if (field.number == 8) {
      to.tag = text_in(field.bytes, 1);
      to.content = EventRunMetadata{std::string(text_in(field.bytes, 2))};
    }
    if (field.number == 9) to.content = EventMetaGraph{std::string(field.bytes)};
  });
  return parts;
}

}  // namespace crochet::io::detail

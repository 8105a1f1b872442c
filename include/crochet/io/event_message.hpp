// SPDX-License-Identifier: Apache-2.0
// Conversion of the messages in event files (Event, Summary.Value) to records.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/io/event_record.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::io::detail {

EventLogMessage event_log_message(std::string_view message);

/// The plug-in of each tag. A writer may store it only with the first value of a tag.
using TagPlugins = std::map<std::string, std::string, std::less<>>;

/// Reads a Summary.Value: sets tag, plug-in and content.
void read_summary_value(std::string_view message, TagPlugins& plugins, EventRecord& to);

/// The parts of an Event: its time and step, and either its summary or other content.
struct EventParts {
  EventRecord record{};
  std::optional<std::string_view> summary{};
};
EventParts read_event(std::string_view message);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_message.ipp>
#endif

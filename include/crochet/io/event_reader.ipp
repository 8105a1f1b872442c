// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_reader.hpp.
#pragma once

#include <crochet/io/event_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/event_message.hpp>
#include <crochet/io/event_record.hpp>
#include <crochet/io/record_file.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>

namespace crochet::io {

CROCHET_INLINE std::optional<EventRecord> EventReader::next() {
  return detail::reading(path(), [this]() -> std::optional<EventRecord> {
    try {
      return try_next();
    } catch (const DataLossError& error) {
      values_ = {};
      state_ = EventFileState::damaged;
      reason_ = "crochet: " + path().string() + " is damaged in the record at byte " + std::to_string(begin_) + ": " +
                error.what();
      return std::nullopt;
    }
  });
}

CROCHET_INLINE std::optional<EventRecord> EventReader::try_next() {
  while (state_ != EventFileState::damaged) {
    while (!values_.empty()) {
      const WireField field = take_field(values_);
      if (field.number != 1) continue;
      EventRecord record{.wall_time = head_.wall_time, .step = head_.step};
      detail::read_summary_value(field.bytes, plugins_, record);
      return record;
    }
    if (!read_record()) break;
    detail::EventParts event = detail::read_event(file_.payload());
    if (!event.summary) return std::move(event.record);
    values_ = *event.summary;
    head_ = std::move(event.record);
  }
  return std::nullopt;
}

CROCHET_INLINE bool EventReader::read_record() {
  begin_ = file_.position();
  const bool there = file_.next();
  state_ = there || file_.at_end() ? EventFileState::whole : EventFileState::unfinished;
  reason_.clear();
  if (state_ == EventFileState::unfinished) {
    reason_ = "crochet: " + path().string() + " ends within the record at byte " + std::to_string(begin_);
  }
  return there;
}

CROCHET_INLINE std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().find("tfevents") == std::string::npos) continue;
    std::error_code gone;
    if (at->is_regular_file(gone)) found.push_back(at->path());
  }
  if (error) throw IoError("crochet: cannot read the folder " + folder.string() + ": " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace crochet::io

// SPDX-License-Identifier: Apache-2.0
// Reads event files of this library and of TensorFlow, one value at a time.
//
//   io::EventReader events{path};
//   while (const auto record = events.next()) {
//     if (const auto* scalar = std::get_if<io::EventScalar>(&record->content)) use(record->step, scalar->value);
//   }
//   if (events.state() == io::EventFileState::damaged) report(events.reason());
#pragma once

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

/// The state of the file after the last record that was read.
enum class EventFileState {
  whole,       ///< the file ends with a complete record
  unfinished,  ///< the last record is incomplete: it is being written, or its writer was killed
  damaged      ///< bytes that are not a record, or a record that is not an event
};

/// The records of one event file, in their order. Reads every complete record before a fault; state() and reason() then
/// describe the fault.
/// - Throws IoError if the system cannot read the file, ResourceExhaustedError if memory does not suffice for a record.
/// - One thread at a time.
/// - Memory: one record, one value of it in decoded form, and one entry for each tag that has a plug-in
///   (docs/file-formats.md).
class EventReader {
 public:
  explicit EventReader(const std::filesystem::path& file, FileSystem& files = local_files())
      : file_(detail::reading(file, [&] {
          return RecordFile{file, files};
        })) {}

  /// The next record; empty at the end. A summary with several values yields one record for each. A call after the end
  /// continues with records that were appended since, unless the file is damaged.
  std::optional<EventRecord> next();

  /// The state after the last record that next() returned; `whole` before the first call.
  [[nodiscard]] EventFileState state() const { return state_; }
  /// Cause and position of the fault if the file is damaged or unfinished.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }

 private:
  std::optional<EventRecord> try_next();

  /// False after the last complete record.
  bool read_record();

  RecordFile file_;
  EventFileState state_ = EventFileState::whole;
  std::string reason_{};
  std::uint64_t begin_ = 0;    // start of the current record
  std::string_view values_{};  // values of the summary that are still to be read; a view into the record
  EventRecord head_{};         // time and step of the summary
  detail::TagPlugins plugins_{};
};

/// The event files of a folder by TensorBoard's rule: regular files with "tfevents" in their names, sorted by name.
/// Throws IoError.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

/// The result of reading one event file.
struct EventFileReport {
  std::filesystem::path file{};
  std::uint64_t records = 0;
  EventFileState state = EventFileState::whole;
  std::string reason{};
};

/// Calls visit(file, record) for each record of an event file, or of each event file of a folder, in order. Returns a
/// report for each file; a damaged file does not prevent reading the others. Throws IoError, ResourceExhaustedError,
/// and what `visit` throws.
template <class F>
std::vector<EventFileReport> for_each_event(const std::filesystem::path& file_or_folder, F visit,
                                            FileSystem& files = local_files()) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(file_or_folder, error);
  std::vector<EventFileReport> reports;
  for (const auto& file : is_folder ? event_files(file_or_folder) : std::vector{file_or_folder}) {
    EventReader reader{file, files};
    EventFileReport report{.file = file};
    while (const std::optional<EventRecord> record = reader.next()) {
      visit(file, *record);
      ++report.records;
    }
    report.state = reader.state();
    report.reason = reader.reason();
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_reader.ipp>
#endif

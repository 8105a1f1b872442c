// SPDX-License-Identifier: Apache-2.0
// Reads event files, this library's and TensorFlow's, one value at a time.
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

/// What is behind the records that were read.
enum class EventFileState {
  whole,       ///< nothing: the file ends with a record
  unfinished,  ///< a part of a record: it is being written, or its writer was killed
  damaged      ///< bytes that are no record, or a record that is no event
};

/// The records of one event file, in their order. All that is whole before a fault is read; then state() and reason()
/// say what there is. IoError is thrown where the system cannot read the file, ResourceExhaustedError where there is
/// no memory for a record. One thread at a time. Memory: a record and what the library makes of one value in it; and
/// one entry for each tag that names a plug-in (docs/file-formats.md).
class EventReader {
 public:
  explicit EventReader(const std::filesystem::path& file, FileSystem& files = local_files())
      : file_(detail::reading(file, [&] {
          return RecordFile{file, files};
        })) {}

  /// The next record; nothing at the end. A summary of several values gives as many records. Called again after the
  /// end it goes on with what was appended since, unless the file is damaged.
  std::optional<EventRecord> next();

  /// What was found behind the last record that next() returned; `whole` before the first call.
  [[nodiscard]] EventFileState state() const { return state_; }
  /// Cause and place, of a file that is damaged or unfinished.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }

 private:
  std::optional<EventRecord> try_next();

  /// False at the end of what is whole.
  bool read_record();

  RecordFile file_;
  EventFileState state_ = EventFileState::whole;
  std::string reason_{};
  std::uint64_t begin_ = 0;    // of the record that is being read
  std::string_view values_{};  // of the summary, not read yet; they lie in the record
  EventRecord head_{};         // of the summary
  detail::TagPlugins plugins_{};
};

/// The event files of a folder, as TensorBoard finds them: regular files with "tfevents" in their names, in the order
/// of the names. Throws IoError.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

/// What was read of an event file.
struct EventFileReport {
  std::filesystem::path file{};
  std::uint64_t records = 0;
  EventFileState state = EventFileState::whole;
  std::string reason{};
};

/// Calls visit(file, record) for each record of an event file, or of each event file of a folder, in order. Returns a
/// report for each file; a damaged one does not keep the others from being read. Throws IoError,
/// ResourceExhaustedError, and what `visit` throws.
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

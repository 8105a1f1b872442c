// SPDX-License-Identifier: Apache-2.0
// RecordingReader: reads a recording (recorded_run.hpp), entry by entry.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/recorded_run.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::io {

/// The entries of a recording, in their order. Memory: two entries.
class RecordingReader {
 public:
  /// Throws IoError if the system cannot read the file.
  explicit RecordingReader(const std::filesystem::path& path, FileSystem& files = local_files())
      : events_(path, files) {}

  /// The next entry; empty at the end of the file, and at a place where it ends within an entry: fault() then has
  /// text. Throws DataLossError, with the file's name, for a damaged file and for one that is no recording.
  std::optional<RecordedRun> next();

  /// Cause and position if the file ends within an entry; empty otherwise.
  [[nodiscard]] std::string fault() const;
  [[nodiscard]] const std::filesystem::path& path() const { return events_.path(); }

 private:
  [[noreturn]] void fail(const std::string& why) const;
  RecordedRun begun(const EventRecord& mark) const;
  RecordedValue value_of(EventRecord& record) const;

  EventReader events_;
  std::optional<RecordedRun> next_{};  // begun, and not all of its values are read
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/recording_reader.ipp>
#endif

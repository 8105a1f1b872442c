// SPDX-License-Identifier: Apache-2.0
// RecordingWriter: writes a recording (recorded_run.hpp).
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/io/event_sink.hpp>
#include <crochet/storage/path_lock.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

/// A new recording. Entries are buffered, and written to the file in pieces of about 64 KiB, and by flush(). One thread
/// at a time.
class RecordingWriter {
 public:
  /// Replaces a file of that name, and creates the folder. Locks the file until the destructor (storage/path_lock.hpp).
  /// Throws IoError, also if something else than a file has the name; FailedPreconditionError if another process is
  /// writing it.
  explicit RecordingWriter(const std::filesystem::path& path);

  /// Each adds an entry; `wall_time` is in seconds since 1970. They throw IoError if the file cannot be written.
  void create(std::int64_t step, double wall_time);
  void end(std::int64_t step, double wall_time, bool interrupted);
  void error(std::int64_t step, double wall_time, std::string_view text);

  /// An entry for a run: begin_run, add for each value, finish_run. Throws ResourceExhaustedError for an entry of 2
  /// GiB.
  void begin_run(std::int64_t step_before, std::string_view targets);
  void add(const TensorRecord& value);
  void finish_run(std::int64_t step, double wall_time);

  /// Writes the buffer to the file. Throws IoError.
  void flush();
  /// flush(), then waits until everything is on the disk. Throws IoError, also if the file was removed or replaced.
  void sync();

 private:
  void mark(std::string_view kind, std::initializer_list<std::string_view> texts);

  std::filesystem::path path_;
  PathLock lock_{};
  std::unique_ptr<EventSink> sink_;
  std::string unwritten_{};
  std::string summary_{};  // of the entry that is being made
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/recording_writer.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// RunWriter: writes the files of recorded runs.
#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/io/event_writer.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/trace/perfetto.hpp>
#include <crochet/trace/profile_table.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/timeline.hpp>
#include <crochet/trace/worker.hpp>

namespace crochet::trace {

struct RunWriterOptions {
  std::filesystem::path output_dir{};  ///< of the timelines; created if missing; empty: the current one
  TimelineOptions timeline{};
  bool run_metadata = false;         ///< also `timeline-<step>.pb` for each timeline: a serialized RunMetadata
  io::EventWriter events{};          ///< receives it as tagged run metadata, `step_<step>`
  std::filesystem::path perfetto{};  ///< one native trace of all runs; empty: none
  bool in_background = true;         ///< writes in a thread of its own
  io::OnWriteError on_write_error = io::OnWriteError::go_on;
  std::function<void(std::string_view)> report{};  ///< may be called by that thread
  double wait_seconds = 10;                        ///< maximum wait of write() for space in the queue; then the run is
                                                   ///< dropped
  io::FileSystem* files = nullptr;                 ///< null: the operating system's
};

/// Writes the record of each run: `timeline-<step>.json` in output_dir, and the other files of the options.
/// - A timeline is complete or absent (storage/whole_file.hpp), and replaces that of an earlier run of the same step.
///   In the event file, which allows one record per tag, the first one stays.
/// - The native trace grows run by run, and is readable at any time. An existing one is renamed from `run.pftrace` to
///   `run.1.pftrace`.
/// - A write error with `go_on` is reported once per kind of file, and the other files are written. The native trace
///   then ends, since data after a gap is not readable. With `stop` the next write() or flush() throws the error.
/// - Several writers of a program may write into one folder.
class RunWriter {
 public:
  explicit RunWriter(RunWriterOptions options)
      : options_(std::move(options)), worker_(waiting_runs, options_.wait_seconds) {}
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  /// In the background, up to eight runs wait in the queue. A further one waits up to `wait_seconds` for space, and is
  /// then dropped, which is reported once, with every policy.
  void write(RunTrace run);
  /// Returns when all files are written, and all but the native trace are on disk.
  void flush();
  /// Totals of all runs passed to write() and not dropped.
  [[nodiscard]] ProfileTable table();

 private:
  static constexpr std::size_t waiting_runs = 8;
  enum Kind : std::size_t { timelines, metadata, events, perfetto, slow, kinds };

  void write_all(const RunTrace& run);
  /// Serializes writers of one place: two writers with a record of one step would write the same temporary file, and
  /// two of one native trace would create the same file. Different places may share a mutex.
  static std::mutex& turn_at(const std::filesystem::path& place);
  void write_files(const std::string& name, const proto::RunMetadata& all);
  io::FileSystem& files() const { return options_.files != nullptr ? *options_.files : io::local_files(); }
  static std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

  static void make_folder(const std::filesystem::path& folder);
  void write_file(const std::string& name, const std::string& text);
  void append(const RunTrace& run);

  /// It may be the trace of a crashed program, of which this one is the restart.
  void keep_earlier_trace();

  /// An exception of an output affects only that output.
  template <class F>
  void guarded(Kind kind, F write) {
    try {
      write();
    } catch (const std::exception& error) {
      if (options_.on_write_error == io::OnWriteError::stop) keep(std::current_exception());
      complain(kind, error.what());
    }
  }
  void complain(Kind kind, const std::string& why);
  void keep(std::exception_ptr error);
  void rethrow();

  const RunWriterOptions options_;
  ProfileTable table_;
  PerfettoWriter packets_;
  std::unique_ptr<io::OutputFile> trace_;
  std::mutex mutex_;
  bool said_[kinds]{};
  std::exception_ptr failure_;
  Worker worker_;  // last: its thread uses the members above
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/run_writer.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// EventLog: writes events into files and handles write errors. Decides when to write, flush and start another file.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/standard_error.hpp>
#include <crochet/io/event_file.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/absolute_path.hpp>

namespace crochet::io {

/// What happens when events cannot be written: the disk is full, or the folder is gone and cannot be created again.
enum class OnWriteError : bool {
  go_on,  ///< report once, keep up to kept_bytes, try again at each flush, report the recovery
  stop    ///< the next call of the writer throws the IoError, and again after each flush that fails
};

struct EventLogOptions {
  double flush_seconds = 120;  ///< longest time between two flushes to the disk
  OnWriteError on_write_error = OnWriteError::go_on;
  std::size_t kept_bytes = std::size_t{4} << 20;  ///< limit for events that could not be written
  Clock clock{};                                  ///< for flush_seconds
  std::function<void(std::string_view)> report{&crochet::detail::write_line};
  EventFileOptions file{};
};

/// The event file of a folder and its successors. If the file vanishes, EventLog continues in a new file whose name
/// sorts after the old one (TensorFlow's writer only logs it and loses the events). One thread at a time.
class EventLog {
 public:
  /// Creates folder and file. Throws IoError with every policy, so that a wrong path is reported at once. A relative
  /// folder is one below the folder that is current now.
  EventLog(const std::filesystem::path& directory, EventLogOptions options)
      : options_(std::move(options)),
        directory_(absolute_path(directory)),
        file_(std::make_unique<EventFile>(directory_, options_.file)),
        flushed_at_(options_.clock()) {}

  /// Buffers an event. Throws what write() throws. An event of 2 GiB or more is reported and left out, or with
  /// OnWriteError::stop a ResourceExhaustedError.
  void append(const proto::Event& event);
  /// Passes the buffer to the system, so that readers see it. After a failure only flush() tries again.
  void write();
  /// Writes everything to the disk. If the file has vanished, or the disk has refused what the system had taken, those
  /// events are lost; the rest goes into a new file.
  void flush();
  [[nodiscard]] double seconds_to_flush() const { return flushed_at_ + options_.flush_seconds - options_.clock(); }
  /// flush() after flush_seconds. With OnWriteError::go_on, if a disk refuses the new file, too: after twice
  /// flush_seconds, then four times that and so on, at most an hour, since each try is a new file.
  void flush_if_due();

  [[nodiscard]] const std::filesystem::path& path() const { return file_->path(); }
  [[nodiscard]] bool failing() const { return failing_; }
  /// Number of events that were lost: too large, refused by the disk behind the system, or kept_bytes was reached while
  /// writing failed.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  void report(std::string_view line) const { options_.report(line); }

 private:
  template <class F>
  void attempt(F act) {
    try {
      act();
      if (failing_) recovered();
    } catch (const IoError& error) {
      const bool failed_before = std::exchange(failing_, true);
      if (options_.on_write_error == OnWriteError::stop) throw;
      if (!failed_before) {
        report(std::string(error.what()) + "; training goes on, events are kept in memory (" +
               std::to_string(options_.kept_bytes) + " bytes at most) and tried again at each flush");
      }
    }
  }
  [[nodiscard]] bool waits_for_disk() const;
  void note_refusal();
  void is_too_large(std::size_t bytes);
  void recovered();
  void begin_another_file();

  EventLogOptions options_;
  std::filesystem::path directory_;
  std::unique_ptr<EventFile> file_;
  double flushed_at_;
  std::string serialized_;
  std::uint64_t appended_ = 0, lost_ = 0;
  std::uint64_t unsynced_ = 0;  // events since the last one that is on the disk
  bool failing_ = false;
  bool refused_ = false;  // the disk: the end of the file may be missing
  int refusals_ = 0;      // one after the other
  double retry_at_ = 0;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_log.ipp>
#endif

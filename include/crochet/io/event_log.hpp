// SPDX-License-Identifier: Apache-2.0
// EventLog: events into files, whatever happens to the disk. When to write, when to flush, what to do if it fails.
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

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/standard_error.hpp>
#include <crochet/io/event_file.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::io {

/// What becomes of the run when events cannot be written: a full disk, a folder that is gone and cannot be made again.
enum class OnWriteError : bool {
  go_on,  ///< say so once, keep what there is memory for, try again at each flush, say when it works again
  stop    ///< the next call of the writer throws the IoError, and again after each flush that fails
};

namespace detail {
double steady_seconds();
}  // namespace detail

struct EventLogOptions {
  double flush_seconds = 120;  ///< what is written is brought to the disk at least this often
  OnWriteError on_write_error = OnWriteError::go_on;
  std::size_t kept_bytes = std::size_t{4} << 20;           ///< of events that could not be written, at most
  std::function<double()> clock{&detail::steady_seconds};  ///< of the flushes
  std::function<void(std::string_view)> report{&crochet::detail::write_line};
  EventFileOptions file{};
};

/// A folder's event file and what follows it. Where the original loses events without a word (its writer only logs that
/// a file has vanished), this one goes on in a new file, whose name sorts behind the old one's. One thread at a time.
class EventLog {
 public:
  /// Makes folder and file. Throws IoError whatever the policy is: a wrong path is seen at once.
  EventLog(std::filesystem::path directory, EventLogOptions options)
      : options_(std::move(options)),
        directory_(std::move(directory)),
        file_(std::make_unique<EventFile>(directory_, options_.file)),
        flushed_at_(options_.clock()) {}

  /// Takes an event. Throws what write() does.
  void append(const proto::Event& event);
  /// Hands what there is to the system, so that readers see it. While that fails it is left to flush().
  void write();
  /// Brings everything to the disk. If the file vanished, the events that it had are gone, and a new one is begun.
  void flush();
  [[nodiscard]] double seconds_to_flush() const { return flushed_at_ + options_.flush_seconds - options_.clock(); }
  void flush_if_due();

  [[nodiscard]] const std::filesystem::path& path() const { return file_->path(); }
  [[nodiscard]] bool failing() const { return failing_; }
  /// How many events there were no memory for while nothing could be written.
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
  void recovered();
  void begin_another_file();

  EventLogOptions options_;
  std::filesystem::path directory_;
  std::unique_ptr<EventFile> file_;
  double flushed_at_;
  std::string serialized_;
  std::uint64_t appended_ = 0, lost_ = 0;
  bool failing_ = false;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_log.ipp>
#endif

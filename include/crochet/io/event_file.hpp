// SPDX-License-Identifier: Apache-2.0
// EventFile: one event file, with the name and the first record that TensorBoard expects. It has no thread and no
// policy.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/event_sink.hpp>

namespace crochet::io {

namespace detail {

std::string host_name();

}  // namespace detail

/// Options of an event file. The defaults use the clock and the files of the machine.
struct EventFileOptions {
  std::string suffix{};                                     ///< at the end of the name
  std::function<double()> wall_clock{&seconds_since_1970};  ///< UTC
  std::function<std::unique_ptr<EventSink>(const std::filesystem::path&)> create{&EventFileSink::create};
};

/// The file `<directory>/events.out.tfevents.<seconds since 1970, ten digits>.<host>.<process>.<number><suffix>`.
/// TensorBoard reads the files of a folder in the order of their names and never goes back. Therefore the name of a new
/// file sorts after all existing ones: its time is increased if necessary (several files in one second, a clock that
/// was set back). The constructor writes the first record, which contains the version.
class EventFile {
 public:
  /// Creates the folder too. Throws IoError.
  EventFile(const std::filesystem::path& directory, const EventFileOptions& options);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Appends a serialized event to the buffer of write().
  void append(std::string_view event);
  /// Number of bytes in the buffer of write().
  [[nodiscard]] std::size_t unwritten() const { return unwritten_.size(); }
  /// Writes the buffer to the file in one piece. Throws IoError and then keeps the buffer.
  void write();
  /// write(), then waits until everything is on the disk.
  void sync() {
    write();
    sink_->sync();
  }
  [[nodiscard]] bool vanished() const { return sink_->vanished(); }
  /// Moves the unwritten bytes of another file to this one.
  void take_unwritten(EventFile& other) { unwritten_ += std::exchange(other.unwritten_, {}); }

 private:
  static void make_folder(const std::filesystem::path& directory);

  static std::string name(std::int64_t time, const std::string& suffix);

  void write_version(double time);

  std::filesystem::path path_;
  std::unique_ptr<EventSink> sink_;
  std::string unwritten_;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_file.ipp>
#endif

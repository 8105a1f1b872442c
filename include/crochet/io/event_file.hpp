// SPDX-License-Identifier: Apache-2.0
// EventFile: one file of events, with the name and the first record that TensorBoard expects. No thread, no policy.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/io/event_sink.hpp>

namespace crochet::io {

namespace detail {

double seconds_since_1970();

std::string host_name();

}  // namespace detail

/// What an event file may be made with; the defaults are the machine's.
struct EventFileOptions {
  std::string suffix{};                                             ///< at the end of the name
  std::function<double()> wall_clock{&detail::seconds_since_1970};  ///< UTC
  std::function<std::unique_ptr<EventSink>(const std::filesystem::path&)> create{&EventFileSink::create};
};

/// `<directory>/events.out.tfevents.<seconds since 1970, ten digits>.<host>.<process>.<number><suffix>`. TensorBoard
/// reads a folder's files in the order of their names and never goes back, so a new file's name sorts behind all that
/// are there: its time is later by a second if need be (several files in one second, a clock that was set back). The
/// first record says the version, and is on its way before the constructor returns.
class EventFile {
 public:
  /// Makes the folder, too. Throws IoError.
  EventFile(const std::filesystem::path& directory, const EventFileOptions& options);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Adds a serialized event to what write() will write.
  void append(std::string_view event);
  /// Bytes that wait for write().
  [[nodiscard]] std::size_t unwritten() const { return unwritten_.size(); }
  /// Hands them to the system in one piece. Throws IoError and then still has them.
  void write();
  /// write(), and everything is on the disk when it returns.
  void sync() {
    write();
    sink_->sync();
  }
  [[nodiscard]] bool vanished() const { return sink_->vanished(); }
  /// Takes over what another file could not write any more.
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

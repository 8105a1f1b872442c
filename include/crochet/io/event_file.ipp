// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_file.hpp.
#pragma once

#include <crochet/io/event_file.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/proto/event.pb.h>
#include <unistd.h>
#include <crochet/base/error.hpp>
#include <crochet/io/event_sink.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/names_in.hpp>

namespace crochet::io::detail {

CROCHET_INLINE std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

inline constexpr std::string_view event_file_prefix = "events.out.tfevents.";

/// The last time with ten digits: names with more digits would not sort after the existing ones.
inline constexpr std::int64_t latest_event_file_time = 9'999'999'999;

/// The latest creation time in the names of a folder's event files; -1 if there are none. Ignores times of more than
/// ten digits, and the last time with ten, because no later one could follow.
CROCHET_INLINE std::int64_t latest_event_file(const std::filesystem::path& directory) {
  std::int64_t latest = -1;
  std::error_code ignored;
  for (const std::string& name : names_in(directory, ignored)) {
    std::int64_t time = 0;
    if (!name.starts_with(event_file_prefix)) continue;
    std::from_chars(name.data() + event_file_prefix.size(), name.data() + name.size(), time);
    if (time < latest_event_file_time) latest = std::max(latest, time);
  }
  return latest;
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE EventFile::EventFile(const std::filesystem::path& directory, const EventFileOptions& options) {
  make_folder(directory);
  auto time = static_cast<std::int64_t>(std::floor(options.wall_clock()));
  time = std::max(time, detail::latest_event_file(directory) + 1);
  do {
    path_ = directory / name(time++, options.suffix);
    sink_ = options.create(path_);
  } while (!sink_);
  write_version(static_cast<double>(time - 1));
}

CROCHET_INLINE void EventFile::append(std::string_view event) { append_tfrecord(unwritten_, event); }

CROCHET_INLINE void EventFile::write() {
  if (unwritten_.empty()) return;
  sink_->write(unwritten_);
  unwritten_.clear();
}

CROCHET_INLINE void EventFile::make_folder(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw IoError("crochet: cannot make the folder " + directory.string() + ": " + error.message());
}

CROCHET_INLINE std::string EventFile::name(std::int64_t time, const std::string& suffix) {
  static std::atomic<int> files{0};  // of this process
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%010lld", static_cast<long long>(time));
  return std::string(detail::event_file_prefix) + digits.data() + "." + detail::host_name() + "." +
         std::to_string(::getpid()) + "." + std::to_string(files++) + suffix;
}

CROCHET_INLINE void EventFile::write_version(double time) {
  proto::Event event;
  event.set_wall_time(time);
  event.set_file_version("brain.Event:2");
  append(event.SerializeAsString());
  write();
}

}  // namespace crochet::io

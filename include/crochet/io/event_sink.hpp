// SPDX-License-Identifier: Apache-2.0
// EventSink: where the bytes of an event file go. A file, unless a test wants to see a disk that is full.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet::io {

/// A file that only grows. One thread at a time.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  /// Adds all of the bytes, or throws IoError and leaves none of them behind: readers give up at half a record.
  virtual void write(std::string_view bytes) = 0;
  /// What was written is on the disk when this returns. Throws IoError.
  virtual void sync() = 0;
  /// Whether somebody removed, renamed or replaced the file.
  [[nodiscard]] virtual bool vanished() const = 0;
};

/// A new file. One that exists already is not touched.
class EventFileSink final : public EventSink {
 public:
  /// Null if there is a file of that name; throws IoError if it cannot be made for any other reason.
  static std::unique_ptr<EventSink> create(const std::filesystem::path& path);
  ~EventFileSink() override { (void)::close(file_); }

  void write(std::string_view bytes) override;
  void sync() override;
  [[nodiscard]] bool vanished() const override;

 private:
  EventFileSink(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

  [[noreturn]] static void fail(const std::filesystem::path& path, const char* what);

  std::filesystem::path path_;
  int file_;
  std::size_t size_ = 0;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_sink.ipp>
#endif

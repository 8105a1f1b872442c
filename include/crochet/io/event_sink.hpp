// SPDX-License-Identifier: Apache-2.0
// EventSink: the output of an event file. A file, or in tests an object that simulates a full disk.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet::io {

/// An append-only file. One thread at a time.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  /// Appends all bytes, or throws IoError and appends none: readers stop at an incomplete record.
  virtual void write(std::string_view bytes) = 0;
  /// Returns when everything written is on the disk. Throws IoError.
  virtual void sync() = 0;
  /// Whether the file was removed, renamed or replaced.
  [[nodiscard]] virtual bool vanished() const = 0;
};

/// A new file. Never changes an existing one.
class EventFileSink final : public EventSink {
 public:
  /// Null if a file of that name exists. Throws IoError if creating it fails for another reason.
  static std::unique_ptr<EventSink> create(const std::filesystem::path& path);
  ~EventFileSink() override;

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

// SPDX-License-Identifier: Apache-2.0
// EventSink: where the bytes of an event file go. A file, unless a test wants to see a disk that is full.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
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
  static std::unique_ptr<EventSink> create(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return std::unique_ptr<EventSink>(new EventFileSink(path, file));
    if (errno == EEXIST) return nullptr;
    fail(path, "be made");
  }
  ~EventFileSink() override { (void)::close(file_); }

  void write(std::string_view bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
      if (n >= 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno != EINTR) {
        const int why = errno;
        (void)!::ftruncate(file_, static_cast<off_t>(size_));
        errno = why;
        fail(path_, "be written");
      }
    }
    size_ += bytes.size();
  }
  void sync() override {
    if (::fdatasync(file_) != 0) fail(path_, "be brought to the disk");
  }
  [[nodiscard]] bool vanished() const override {
    struct stat named {
    }, opened{};
    if (::fstat(file_, &opened) != 0) return true;
    return ::stat(path_.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev;
  }

 private:
  EventFileSink(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

  [[noreturn]] static void fail(const std::filesystem::path& path, const char* what) {
    throw IoError("crochet: the event file " + path.string() + " cannot " + what + ": " + std::strerror(errno));
  }

  std::filesystem::path path_;
  int file_;
  std::size_t size_ = 0;
};

}  // namespace crochet::io

// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_sink.hpp.
#pragma once

#include <crochet/io/event_sink.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <crochet/base/error.hpp>
#include <crochet/storage/descriptor.hpp>

namespace crochet::io {

CROCHET_INLINE std::unique_ptr<EventSink> EventFileSink::create(const std::filesystem::path& path) {
  const int file =
      crochet::detail::beyond_standard_error(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file >= 0) return std::unique_ptr<EventSink>(new EventFileSink(path, file));
  if (errno == EEXIST) return nullptr;
  fail(path, "be made");
}

CROCHET_INLINE EventFileSink::~EventFileSink() { (void)::close(file_); }

CROCHET_INLINE void EventFileSink::write(std::string_view bytes) {
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

CROCHET_INLINE void EventFileSink::sync() {
  if (::fdatasync(file_) != 0) fail(path_, "be brought to the disk");
}

CROCHET_INLINE bool EventFileSink::vanished() const {
  struct stat named {
  }, opened{};
  if (::fstat(file_, &opened) != 0) return true;
  return ::stat(path_.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev;
}

CROCHET_INLINE void EventFileSink::fail(const std::filesystem::path& path, const char* what) {
  const int why = errno;  // an allocation may change it
  throw IoError("crochet: the event file " + path.string() + " cannot " + what + ": " + std::strerror(why));
}

}  // namespace crochet::io

// SPDX-License-Identifier: Apache-2.0
// Writes a file so that it is complete or not there, whenever the program or the machine stops.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <crochet/config.hpp>
#include <crochet/error.hpp>

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <unistd.h>
#endif

namespace crochet::io {

namespace detail {

[[noreturn]] CROCHET_COLD inline void fail_to_write(const std::filesystem::path& path, const std::string& why) {
  throw IoError("crochet: cannot write " + path.string() + ": " + why);
}

/// A file that is removed again unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
    if (file_ == nullptr) fail();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::error_code ignored;
    if (!kept_) std::filesystem::remove(path_, ignored);
  }

  void write(std::span<const std::byte> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
  }
  /// Everything is on the disk when this returns.
  void close() {
    if (std::fflush(file_) != 0) fail();
#if __has_include(<unistd.h>)
    if (fsync(fileno(file_)) != 0) fail();
#endif
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  }
  void rename(const std::filesystem::path& to) {
    std::error_code error;
    std::filesystem::rename(path_, to, error);
    if (error) fail_to_write(to, error.message());
    kept_ = true;
  }

 private:
  [[noreturn]] void fail() const { fail_to_write(path_, std::strerror(errno)); }

  std::filesystem::path path_;
  std::FILE* file_;
  bool kept_ = false;
};

/// Makes a rename in the folder durable, as far as the file system can.
inline void sync_folder([[maybe_unused]] const std::filesystem::path& folder) {
#if __has_include(<unistd.h>)
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY);
  if (opened < 0) return;
  (void)fsync(opened);
  (void)::close(opened);
#endif
}

}  // namespace detail

/// Writes the parts, one after the other, to `path`: first to `path` with ".tmp" added, then to the disk, then renamed.
/// An older file of that name is replaced. Throws IoError, and leaves an older file as it was and no temporary one. Not
/// for two writers of one path at the same time. Cost: waits for the disk.
inline void write_whole_file(const std::filesystem::path& path,
                             std::initializer_list<std::span<const std::byte>> parts) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  detail::TemporaryFile file{temporary};
  for (const std::span<const std::byte> part : parts) file.write(part);
  file.close();
  file.rename(path);
  detail::sync_folder(path.parent_path());
}

}  // namespace crochet::io

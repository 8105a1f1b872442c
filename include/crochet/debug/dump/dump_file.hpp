// SPDX-License-Identifier: Apache-2.0
// DumpFile: opens a file of a dump, regular files only.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::debug {

namespace detail {
[[noreturn]] CROCHET_COLD inline void damaged(const std::string& file, const std::string& why) {
  throw DataLossError("crochet: " + file + " is damaged: " + why);
}
[[noreturn]] CROCHET_COLD inline void unreadable(const std::string& file, const std::string& why) {
  throw IoError("crochet: cannot read " + file + ": " + why);
}
}  // namespace detail

/// An open file. Symbolic links, pipes and devices are rejected without blocking, because a dump from another source
/// could contain links to any file. Throws IoError with the file and the cause, and DataLossError for a file that is
/// too short. Concurrent reads are safe.
class DumpFile {
 public:
  explicit DumpFile(const std::filesystem::path& path) : path_(path.string()) {
    opened_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (opened_ < 0) {
      detail::unreadable(path_, errno == ELOOP ? "it is a symbolic link" : std::generic_category().message(errno));
    }
    struct stat facts {};
    if (::fstat(opened_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      ::close(std::exchange(opened_, -1));
      detail::unreadable(path_, "it is no plain file");
    }
    size_ = static_cast<std::uint64_t>(facts.st_size);
  }
  DumpFile(DumpFile&& from) noexcept
      : path_(std::move(from.path_)), opened_(std::exchange(from.opened_, -1)), size_(from.size_) {}
  DumpFile& operator=(DumpFile&&) = delete;
  ~DumpFile() {
    if (opened_ >= 0) ::close(opened_);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Size in bytes at the time of opening.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The file descriptor. Reads here do not use or change its position.
  [[nodiscard]] int descriptor() const { return opened_; }

  /// Fills `to` with the bytes that begin at `offset`.
  void read_at(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
      const ::ssize_t read = ::pread(opened_, to.data(), to.size(), static_cast<::off_t>(offset));
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) detail::unreadable(path_, std::generic_category().message(errno));
      if (read == 0) detail::damaged(path_, "it ends before byte " + std::to_string(offset + to.size()));
      offset += static_cast<std::uint64_t>(read);
      to = to.subspan(static_cast<std::size_t>(read));
    }
  }

  /// The whole content; throws DataLossError above `most` bytes.
  [[nodiscard]] std::string read_all(std::uint64_t most) const {
    if (size_ > most) {
      detail::damaged(path_, "it has " + std::to_string(size_) + " bytes, and no more than " + std::to_string(most) +
                                 " are taken for such a file");
    }
    std::string bytes(static_cast<std::size_t>(size_), '\0');
    read_at(0, std::as_writable_bytes(std::span{bytes}));
    return bytes;
  }

 private:
  std::string path_;
  int opened_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace crochet::debug

// SPDX-License-Identifier: Apache-2.0
// FileSystem: the operations for reading files and writing them durably, as an interface, so that a test can make each
// call fail.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#if __has_include(<unistd.h>)
#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

namespace crochet::io {

/// A file that is written sequentially. The destructor closes it without a sync.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  virtual ~OutputFile() = default;

  virtual std::error_code write(std::span<const std::byte> bytes) = 0;
  /// Writes several pieces in order; in one call if the system can.
  virtual std::error_code write_parts(std::initializer_list<std::span<const std::byte>> parts) {
    for (const std::span<const std::byte> part : parts) {
      if (const std::error_code error = write(part)) return error;
    }
    return {};
  }
  /// Flushes to the operating system, so that other readers get all bytes written so far, and starts writing them to
  /// disk, which shortens a later sync().
  virtual std::error_code start_sync() = 0;
  /// Syncs: all bytes written so far are on disk when this returns without an error.
  virtual std::error_code sync() = 0;
  virtual std::error_code close() = 0;
};

/// A file that is read. The destructor closes it. Thread: one at a time.
class RandomAccessFile {
 public:
  RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;
  virtual ~RandomAccessFile() = default;

  /// Size in bytes at the time of opening.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads bytes from `offset` on into `to`, which is not empty, and returns their number. It may be less than the size
  /// of `to` (a short read); 0 without an error is the end of the file.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> to, std::error_code& error) = 0;
};

/// The operating system's file operations. No function throws anything but std::bad_alloc; an error code reports the
/// cause of any other failure.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// Opens a regular file for reading; null and an error if it does not exist or cannot be read. Default: the operating
  /// system's.
  virtual std::unique_ptr<RandomAccessFile> open(const std::filesystem::path& path, std::error_code& error);
  /// Creates an empty file with this name; replaces an existing file or link, without touching the link's target. Null
  /// and an error on failure.
  virtual std::unique_ptr<OutputFile> create(const std::filesystem::path& path, std::error_code& error) = 0;
  /// Renames atomically; replaces an existing file.
  virtual std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// A missing file is no error.
  virtual std::error_code remove(const std::filesystem::path& path) = 0;
  /// Syncs the directory: renames and removals in it are then durable.
  virtual std::error_code sync_folder(const std::filesystem::path& folder) = 0;
};

namespace detail {

inline std::error_code last_error() { return {errno, std::generic_category()}; }

/// Makes the object that owns an open file. Closes the file if there is no memory for the object.
template <class File, class... Rest>
std::unique_ptr<File> owner_of(std::FILE* file, Rest... rest) {
  try {
    return std::make_unique<File>(file, rest...);
  } catch (...) {
    std::fclose(file);
    throw;
  }
}

class LocalInput final : public RandomAccessFile {
 public:
  LocalInput(std::FILE* file, std::uint64_t size) : file_(file), size_(size) {
    std::setvbuf(file_, nullptr, _IONBF, 0);  // reads are large already
  }
  ~LocalInput() override { std::fclose(file_); }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t offset, std::span<std::byte> to, std::error_code& error) override {
    error = {};
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<long>::max())) return 0;
    std::clearerr(file_);
    errno = 0;
    const bool there = std::fseek(file_, static_cast<long>(offset), SEEK_SET) == 0;
    const std::size_t got = there ? std::fread(to.data(), 1, to.size(), file_) : 0;
    if (!there || (got == 0 && std::ferror(file_) != 0)) error = last_error();
    return got;
  }

 private:
  std::FILE* file_;
  std::uint64_t size_;
};

class LocalFile final : public OutputFile {
 public:
  explicit LocalFile(std::FILE* file) : file_(file) { std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 18); }
  ~LocalFile() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  std::error_code write(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return {};
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return last_error();
    written_ += bytes.size();
    return written_ - started_ < step ? std::error_code{} : start_sync();
  }
#if __has_include(<unistd.h>)
  /// Bypasses the buffer: with the full size in one call, the kernel allocates memory in large pieces.
  std::error_code write_parts(std::initializer_list<std::span<const std::byte>> parts) override {
    if (std::fflush(file_) != 0) return last_error();
    std::vector<::iovec> rest;
    for (const std::span<const std::byte> part : parts) {
      if (!part.empty()) rest.push_back({const_cast<std::byte*>(part.data()), part.size()});  // NOLINT: only read
      written_ += part.size();
    }
    for (std::size_t first = 0; first < rest.size();) {
      const ssize_t n = ::writev(::fileno(file_), &rest[first], static_cast<int>(rest.size() - first));
      if (n < 0 && errno != EINTR) return last_error();
      for (auto done = static_cast<std::size_t>(n < 0 ? 0 : n); done > 0;) {
        ::iovec& piece = rest[first];
        const std::size_t of_it = done < piece.iov_len ? done : piece.iov_len;
        piece = {static_cast<std::byte*>(piece.iov_base) + of_it, piece.iov_len - of_it};
        first += piece.iov_len == 0 ? 1 : 0;
        done -= of_it;
      }
    }
    return written_ - started_ < step ? std::error_code{} : start_sync();
  }
#endif
  std::error_code start_sync() override {
    if (std::fflush(file_) != 0) return last_error();
#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE)
    // Only a hint: an error here occurs again in fsync, which reports it.
    (void)::sync_file_range(::fileno(file_), static_cast<off_t>(started_), 0, SYNC_FILE_RANGE_WRITE);
#endif
    started_ = written_;
    return {};
  }
  std::error_code sync() override {
    if (std::fflush(file_) != 0) return last_error();
#if __has_include(<unistd.h>)
    if (::fsync(::fileno(file_)) != 0) return last_error();
#endif
    return {};
  }
  std::error_code close() override {
    return std::fclose(std::exchange(file_, nullptr)) == 0 ? std::error_code{} : last_error();
  }

 private:
  static constexpr std::size_t step = std::size_t{16} << 20;  // bytes between two hints to start writing to disk

  std::FILE* file_;
  std::size_t written_ = 0, started_ = 0;
};

class LocalFiles final : public FileSystem {
 public:
  std::unique_ptr<OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    if (std::filesystem::is_symlink(path, error)) std::filesystem::remove(path, error);
    std::FILE* const file = open_to_write(path);
    error = file != nullptr ? std::error_code{} : last_error();
    return file != nullptr ? owner_of<LocalFile>(file) : nullptr;
  }
  static std::FILE* open_to_write(const std::filesystem::path& path) {
#if __has_include(<unistd.h>)
    const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (opened < 0) return nullptr;
    std::FILE* const file = ::fdopen(opened, "wb");
    if (file != nullptr) return file;
    const int why = errno;
    ::close(opened);
    errno = why;
    return nullptr;
#else
    return std::fopen(path.c_str(), "wb");
#endif
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    std::error_code error;
    std::filesystem::rename(from, to, error);
    return error;
  }
  std::error_code remove(const std::filesystem::path& path) override {
    std::error_code error;
    std::filesystem::remove(path, error);
    return error;
  }
  std::error_code sync_folder([[maybe_unused]] const std::filesystem::path& folder) override {
#if __has_include(<unistd.h>)
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return last_error();
    const std::error_code error = ::fsync(opened) == 0 ? std::error_code{} : last_error();
    ::close(opened);
    // Some file systems do not support this for directories; nothing more can be done then.
    if (error != std::errc::invalid_argument && error != std::errc::not_supported) return error;
#endif
    return {};
  }
};

}  // namespace detail

/// The names in a directory, unordered, without "." and ".."; empty and an error if it cannot be read. Does not use
/// std::filesystem's iterators: they terminate the program if memory is exhausted (libstdc++ 12).
inline std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  error.clear();
#if __has_include(<unistd.h>)
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  if (!opened) {
    error = detail::last_error();
    return names;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;  // an allocation that succeeds may change it
  }
  if (errno != 0) error = detail::last_error();
#else
  for (std::filesystem::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
#endif
  if (error) names.clear();
  return names;
}

/// The operating system's files.
inline FileSystem& local_files() {
  static detail::LocalFiles files;
  return files;
}

inline std::unique_ptr<RandomAccessFile> FileSystem::open(const std::filesystem::path& path, std::error_code& error) {
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    error = make_error_code(std::errc::no_such_file_or_directory);
  if (error) return nullptr;
  if (!std::filesystem::is_regular_file(status)) {  // fopen accepts a directory, and blocks on a pipe
    error = make_error_code(is_directory(status) ? std::errc::is_a_directory : std::errc::not_supported);
    return nullptr;
  }
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return nullptr;
#if __has_include(<unistd.h>)
  std::FILE* const file = std::fopen(path.c_str(), "rbe");  // e: child processes do not inherit it
#else
  std::FILE* const file = std::fopen(path.c_str(), "rb");
#endif
  if (file == nullptr) error = detail::last_error();
  return file != nullptr ? detail::owner_of<detail::LocalInput>(file, size) : nullptr;
}

}  // namespace crochet::io

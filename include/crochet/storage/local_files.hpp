// SPDX-License-Identifier: Apache-2.0
// LocalFiles: the FileSystem of the operating system, with POSIX calls where there are any.
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
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/storage/descriptor.hpp>
#include <crochet/storage/file_system.hpp>

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

namespace crochet::io {

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
    const int opened = crochet::detail::beyond_standard_error(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
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

// SPDX-License-Identifier: Apache-2.0
// InputFile: a file for reading at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::io {

/// An open file.
/// - Completes short reads and repeats interrupted ones.
/// - Throws: IoError with file name and cause; DataLossError if the file is shorter than the read range.
/// - Thread: one at a time.
class InputFile {
 public:
  /// Throws IoError if the file does not exist, cannot be read, or is not a regular file.
  explicit InputFile(std::filesystem::path path, FileSystem& files = local_files()) : path_(std::move(path)) {
    std::error_code error;
    file_ = files.open(path_, error);
    if (!file_) fail(error);
  }
  /// The same; empty if the file does not exist.
  static std::optional<InputFile> if_there(const std::filesystem::path& path, FileSystem& files = local_files()) {
    std::error_code error;
    InputFile file{path, files.open(path, error)};
    if (!file.file_ && error == std::errc::no_such_file_or_directory) return std::nullopt;
    if (!file.file_) file.fail(error);
    return file;
  }

  const std::filesystem::path& path() const { return path_; }
  /// Size in bytes at the time of opening.
  std::uint64_t size() const { return file_->size(); }

  /// Fills `to` with the bytes from `offset` on.
  void read_at(std::uint64_t offset, std::span<std::byte> to) const {
    if (offset > size() || to.size() > size() - offset) {
      throw DataLossError("crochet: " + path_.string() + " is damaged: it ends at byte " + std::to_string(size()) +
                          ", and what lies at byte " + std::to_string(offset) + " needs " + std::to_string(to.size()) +
                          " more");
    }
    if (read_some(offset, to) != to.size()) {
      throw DataLossError("crochet: " + path_.string() + " is damaged: it became shorter while it was read");
    }
  }

  /// Reads bytes from `offset` on into `to`, and returns their number: less than the size of `to` only at the end of
  /// the file, which may have grown since it was opened.
  std::size_t read_some(std::uint64_t offset, std::span<std::byte> to) const {
    std::size_t done = 0;
    while (done < to.size()) {
      std::error_code error;
      const std::size_t got = file_->read(offset + done, to.subspan(done), error);
      if (error && error != std::errc::interrupted) fail(error);
      if (got == 0 && !error) break;
      done += got;
    }
    return done;
  }

 private:
  InputFile(std::filesystem::path path, std::unique_ptr<RandomAccessFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[noreturn]] CROCHET_COLD void fail(std::error_code error) const {
    throw IoError("crochet: cannot read " + path_.string() + ": " + error.message());
  }

  std::filesystem::path path_;
  std::unique_ptr<RandomAccessFile> file_;
};

namespace detail {

[[noreturn]] CROCHET_COLD inline void no_memory_for(const std::filesystem::path& file) {
  throw ResourceExhaustedError("crochet: cannot read " + file.string() + ": there is not enough memory for it");
}

/// The result of `read()`. Throws ResourceExhaustedError, with the name of the file, if `read` throws std::bad_alloc.
template <class F>
decltype(auto) reading(const std::filesystem::path& file, F&& read) {
  try {
    return std::forward<F>(read)();
  } catch (const std::bad_alloc&) {
    no_memory_for(file);
  } catch (const std::length_error&) {
    no_memory_for(file);
  }
}

}  // namespace detail

/// The contents of a file. Throws IoError, ResourceExhaustedError. Memory: the size of the file.
inline std::string read_whole_file(const std::filesystem::path& path, FileSystem& files = local_files()) {
  return detail::reading(path, [&] {
    const InputFile file{path, files};
    std::string contents(static_cast<std::size_t>(file.size()), '\0');
    file.read_at(0, std::as_writable_bytes(std::span{contents}));
    return contents;
  });
}

}  // namespace crochet::io

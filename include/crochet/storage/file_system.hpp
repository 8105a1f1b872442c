// SPDX-License-Identifier: Apache-2.0
// FileSystem: the operations for reading files and writing them durably, as an interface, so that a test can make each
// call fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <system_error>

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

/// The operating system's files.
inline FileSystem& local_files();

}  // namespace crochet::io

#include <crochet/storage/local_files.hpp>

// SPDX-License-Identifier: Apache-2.0
// TemporaryFile, write_whole_file: write a file atomically. It is complete or does not exist, even if the program or
// the machine stops.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::io {

[[noreturn]] CROCHET_COLD inline void fail_to_write(const std::filesystem::path& path, const std::string& why) {
  throw IoError("crochet: cannot write " + path.string() + ": " + why);
}

inline void require_written(const std::filesystem::path& path, std::error_code error) {
  if (error) fail_to_write(path, error.message());
}

/// Throws IoError if the path, or what a link of that name leads to, is there and no regular file: a rename would take
/// the place of a device, a pipe or a folder.
inline void require_file_or_nothing(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail_to_write(path, "it is no regular file, which a new one could replace; give another path");
  }
}

/// A file for `path`, written under `path` with ".tmp" added and renamed at the end. The destructor removes a file that
/// was not renamed. All functions throw IoError with file name and cause.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path, FileSystem& files = local_files())
      : files_(&files), path_(std::move(path)), temporary_(path_) {
    temporary_ += ".tmp";
    require_file_or_nothing(path_);
    std::error_code error;
    file_ = files_->create(temporary_, error);
    require_written(temporary_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    file_.reset();
    if (!kept_) (void)files_->remove(temporary_);
  }

  /// The path before the rename.
  const std::filesystem::path& path() const { return temporary_; }

  void write(std::span<const std::byte> bytes) { require_written(temporary_, file_->write(bytes)); }
  /// Flushes, so that other readers get all bytes at path(), and starts writing them to disk.
  void start_sync() { require_written(temporary_, file_->start_sync()); }
  /// Syncs: on return everything is on disk. Blocks until then.
  void close() {
    require_written(temporary_, file_->sync());
    require_written(temporary_, std::exchange(file_, nullptr)->close());
  }
  /// Renames the closed file to its final name; replaces an existing file. Durable after sync_folder().
  void rename() {
    require_written(path_, files_->rename(temporary_, path_));
    kept_ = true;
  }

 private:
  FileSystem* files_;
  std::filesystem::path path_, temporary_;
  std::unique_ptr<OutputFile> file_;
  bool kept_ = false;
};

/// Makes the renames in the directory of `path` durable. Throws IoError.
inline void sync_folder_of(const std::filesystem::path& path, FileSystem& files = local_files()) {
  require_written(path.parent_path().empty() ? "." : path.parent_path(), files.sync_folder(path.parent_path()));
}

/// Writes the parts, in order, to `path` with ".tmp" added, syncs it to disk, and renames it to `path`. Replaces an
/// existing file.
/// - Throws: IoError; no temporary file is then left, and an existing file is unchanged, unless only the folder could
///   not be synced: then the new file is in its place.
/// - Thread: one writer of a path at a time.
/// - Cost: waits for the disk.
inline void write_whole_file(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> parts,
                             FileSystem& files = local_files()) {
  TemporaryFile file{path, files};
  for (const std::span<const std::byte> part : parts) file.write(part);
  file.close();
  file.rename();
  sync_folder_of(path, files);
}

}  // namespace crochet::io

// SPDX-License-Identifier: Apache-2.0
// Writes a file so that it is complete or not there, whenever the program or the machine stops.
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

namespace detail {

[[noreturn]] CROCHET_COLD inline void fail_to_write(const std::filesystem::path& path, const std::string& why) {
  throw IoError("crochet: cannot write " + path.string() + ": " + why);
}

inline void require_written(const std::filesystem::path& path, std::error_code error) {
  if (error) fail_to_write(path, error.message());
}

}  // namespace detail

/// The file that is to be at `path`, written as `path` with ".tmp" added. Everything throws IoError with the name of
/// the file and the cause. What was not renamed is removed again.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path, FileSystem& files = local_files())
      : files_(&files), path_(std::move(path)), temporary_(path_) {
    temporary_ += ".tmp";
    std::error_code error;
    file_ = files_->create(temporary_, error);
    detail::require_written(temporary_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    file_.reset();
    if (!kept_) (void)files_->remove(temporary_);
  }

  /// Where it is until it is renamed.
  const std::filesystem::path& path() const { return temporary_; }

  void write(std::span<const std::byte> bytes) { detail::require_written(temporary_, file_->write(bytes)); }
  /// Others can read what was written, at path(), and the disk begins to take it.
  void start_sync() { detail::require_written(temporary_, file_->start_sync()); }
  /// Everything is on the disk when this returns. Waits for it.
  void close() {
    detail::require_written(temporary_, file_->sync());
    detail::require_written(temporary_, std::exchange(file_, nullptr)->close());
  }
  /// After close(): it gets its name, in place of a file that has it. Durable after sync_folder().
  void rename() {
    detail::require_written(path_, files_->rename(temporary_, path_));
    kept_ = true;
  }

 private:
  FileSystem* files_;
  std::filesystem::path path_, temporary_;
  std::unique_ptr<OutputFile> file_;
  bool kept_ = false;
};

/// Makes the renames in the folder that holds `path` durable. Throws IoError.
inline void sync_folder_of(const std::filesystem::path& path, FileSystem& files = local_files()) {
  detail::require_written(path.parent_path().empty() ? "." : path.parent_path(), files.sync_folder(path.parent_path()));
}

/// Writes the parts, one after the other, to `path`: first to `path` with ".tmp" added, then to the disk, then renamed.
/// An older file of that name is replaced. Throws IoError, and leaves an older file as it was and no temporary one. Not
/// for two writers of one path at the same time. Cost: waits for the disk.
inline void write_whole_file(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> parts,
                             FileSystem& files = local_files()) {
  TemporaryFile file{path, files};
  for (const std::span<const std::byte> part : parts) file.write(part);
  file.close();
  file.rename();
  sync_folder_of(path, files);
}

}  // namespace crochet::io

// SPDX-License-Identifier: Apache-2.0
// CheckpointDirectory: the checkpoint files of a directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet {

namespace detail {

/// The step at the end of a prefix; -1 if there is none.
std::int64_t step_of(const std::filesystem::path& prefix, std::string_view basename);

}  // namespace detail

/// The checkpoints `<directory>/<basename>-<step>` of one format. Stateless: each call reads the directory.
class CheckpointDirectory {
 public:
  CheckpointDirectory(std::filesystem::path path, std::string basename, io::FileSystem& files,
                      const io::CheckpointFiles& format)
      : path_(std::move(path)), basename_(std::move(basename)), files_(&files), format_(&format) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// `padded`: at least 8 digits.
  [[nodiscard]] std::filesystem::path prefix_of(std::int64_t step, bool padded) const;

  /// The prefixes of the existing checkpoints, by step; none if there is no directory. Throws IoError if it cannot be
  /// read.
  [[nodiscard]] std::vector<std::filesystem::path> found() const;

  /// For messages: the index file of the newest checkpoint of another format of crochet, and the type that reads it;
  /// empty if there is none. Formats are recognized by the ends of names, so none has to be included.
  [[nodiscard]] std::string of_another_format() const;

  /// Whether the directory exists.
  [[nodiscard]] bool exists() const;
  /// Creates the directory and syncs its entry to disk; otherwise its files could be lost. Throws IoError.
  void make() const;
  /// The path of a checkpoint in this directory, in the form `directory/name`; empty if it is in another one.
  [[nodiscard]] std::optional<std::filesystem::path> inside(const std::filesystem::path& prefix) const;
  /// The first file of this checkpoint that is a link to a file outside the directory; empty if there is none.
  [[nodiscard]] std::optional<std::filesystem::path> link_to_outside(const std::filesystem::path& prefix) const;

  /// Removes files of checkpoints without an index, which interrupted saves have left.
  void remove_leftovers() const;

  /// Renames all files of the checkpoint: adds the suffix ".damaged". Throws IoError.
  void set_aside(const std::filesystem::path& prefix) const;

 private:
  static void require_no_dangling_link(const std::filesystem::path& at);

  std::filesystem::path path_;
  std::string basename_;
  io::FileSystem* files_;
  const io::CheckpointFiles* format_;
};

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/checkpoint_directory.ipp>
#endif

// SPDX-License-Identifier: Apache-2.0
// CheckpointDirectory: the checkpoints of a directory, as files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet {

namespace detail {

/// The step at the end of a prefix, -1 if there is none.
inline std::int64_t step_of(const std::filesystem::path& prefix, std::string_view basename) {
  const std::string name = prefix.filename().string();
  const std::string start = std::string(basename) + "-";
  if (!name.starts_with(start) || name.size() == start.size() || name.size() > start.size() + 18) return -1;
  const std::string digits = name.substr(start.size());
  const bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return all ? std::stoll(digits) : -1;
}

}  // namespace detail

/// The checkpoints `<directory>/<basename>-<step>` of one format. Keeps no state: each call reads the directory.
template <io::CheckpointFormat Format>
class CheckpointDirectory {
 public:
  CheckpointDirectory(std::filesystem::path path, std::string basename, io::FileSystem& files)
      : path_(std::move(path)), basename_(std::move(basename)), files_(&files) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// `padded`: at least 8 digits.
  [[nodiscard]] std::filesystem::path prefix_of(std::int64_t step, bool padded) const {
    std::string digits = std::to_string(step);
    if (padded && digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
    return path_ / (basename_ + "-" + digits);
  }

  /// The prefixes of those that are there, by step; none if there is no directory. Throws IoError if it cannot be read.
  [[nodiscard]] std::vector<std::filesystem::path> found() const {
    std::vector<std::pair<std::int64_t, std::filesystem::path>> steps;
    std::error_code error;
    for (const std::string& name : io::names_in(path_, error)) {
      const std::filesystem::path prefix = path_ / std::filesystem::path(name).stem();
      const std::int64_t step = detail::step_of(prefix, basename_);
      if (step >= 0 && path_ / name == Format::index_file(prefix)) {
        steps.emplace_back(step, prefix);
      }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
      throw IoError("crochet: cannot read " + path_.string() + ": " + error.message());
    }
    std::sort(steps.begin(), steps.end());
    std::vector<std::filesystem::path> prefixes;
    for (auto& [step, prefix] : steps) prefixes.push_back(std::move(prefix));
    return prefixes;
  }

  /// Is the directory there?
  [[nodiscard]] bool exists() const {
    std::error_code error;
    return std::filesystem::is_directory(path_, error);
  }
  /// Makes the directory. One that is new is brought to the disk, too: what is in it is worth nothing if nothing leads
  /// to it. Throws IoError.
  void make() const {
    std::error_code error;
    std::vector<std::filesystem::path> missing;
    for (std::filesystem::path at = path_; !at.empty() && !std::filesystem::exists(at, error);) {
      missing.push_back(at);
      at = at.has_relative_path() ? at.parent_path() : std::filesystem::path{};
    }
    for (const std::filesystem::path& at : missing) require_no_dangling_link(at);
    std::filesystem::create_directories(path_, error);
    if (!exists()) {
      throw IoError("crochet: cannot make the directory " + path_.string() + ": " +
                    (error ? error.message() : "a file has this name"));
    }
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) io::sync_folder_of(*at, *files_);
  }
  /// The path of a checkpoint in this directory, if it is one: `directory/name`, however it is spelt.
  [[nodiscard]] std::optional<std::filesystem::path> inside(const std::filesystem::path& prefix) const {
    const std::filesystem::path parent = prefix.has_parent_path() ? prefix.parent_path() : ".";
    std::error_code error;
    const bool same =
        parent.lexically_normal() == path_.lexically_normal() || std::filesystem::equivalent(parent, path_, error);
    if (!same || !prefix.has_filename()) return std::nullopt;
    return path_ / prefix.filename();
  }
  /// A file of this checkpoint that is a link to a file outside the directory; nothing if there is none.
  [[nodiscard]] std::optional<std::filesystem::path> link_to_outside(const std::filesystem::path& prefix) const {
    for (const std::filesystem::path& file : Format::files(prefix)) {
      std::error_code error;
      if (!std::filesystem::is_symlink(file, error)) continue;
      const std::filesystem::path home = std::filesystem::canonical(path_, error);
      const std::filesystem::path target = std::filesystem::canonical(file, error);
      if (error || std::mismatch(home.begin(), home.end(), target.begin(), target.end()).first != home.end()) {
        return file;
      }
    }
    return std::nullopt;
  }

  /// Removes files of checkpoints that have no index: their saves were interrupted.
  void remove_leftovers() const {
    std::set<std::filesystem::path> prefixes;
    std::error_code error;
    const std::string start = basename_ + "-";
    for (const std::string& name : io::names_in(path_, error)) {
      const std::size_t digits = name.find_first_not_of("0123456789", start.size());
      if (name.starts_with(start) && digits != std::string::npos && digits > start.size() && name[digits] == '.') {
        prefixes.insert(path_ / name.substr(0, digits));
      }
    }
    for (const std::filesystem::path& prefix : prefixes) {
      if (io::checkpoint_exists<Format>(prefix)) continue;
      for (const std::filesystem::path& file : Format::files(prefix)) (void)files_->remove(file);
    }
  }

  /// Gives all its files the ending ".damaged". Throws IoError.
  void set_aside(const std::filesystem::path& prefix) const {
    for (const std::filesystem::path& file : Format::files(prefix)) {
      std::filesystem::path name = file;
      if (const std::error_code error = files_->rename(file, name += ".damaged")) {
        throw IoError("crochet: cannot rename " + file.string() + ": " + error.message());
      }
    }
  }

 private:
  static void require_no_dangling_link(const std::filesystem::path& at) {
    std::error_code error;
    if (!std::filesystem::is_symlink(at, error)) return;
    throw IoError("crochet: " + at.string() + " is a link to " + std::filesystem::read_symlink(at, error).string() +
                  ", which does not exist; make it, or remove the link");
  }

  std::filesystem::path path_;
  std::string basename_;
  io::FileSystem* files_;
};

}  // namespace crochet

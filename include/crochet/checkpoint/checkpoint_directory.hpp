// SPDX-License-Identifier: Apache-2.0
// CheckpointDirectory: the checkpoints of a directory, as files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/error.hpp>
#include <crochet/io/checkpoint_format.hpp>
#include <crochet/io/file_system.hpp>
#include <crochet/io/whole_file.hpp>

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

/// The checkpoints `<directory>/<basename>-<step>` of one format. "" is the current directory. Has no memory: it looks
/// each time.
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

  /// The prefixes of those that are there, by step.
  [[nodiscard]] std::vector<std::filesystem::path> found() const {
    std::vector<std::pair<std::int64_t, std::filesystem::path>> steps;
    std::error_code error;
    for (std::filesystem::directory_iterator at{folder(), error}, end; !error && at != end; at.increment(error)) {
      const std::filesystem::path prefix = path_ / at->path().stem();
      const std::int64_t step = detail::step_of(prefix, basename_);
      if (step >= 0 && path_ / at->path().filename() == Format::index_file(prefix)) {
        steps.emplace_back(step, prefix);
      }
    }
    std::sort(steps.begin(), steps.end());
    std::vector<std::filesystem::path> prefixes;
    for (auto& [step, prefix] : steps) prefixes.push_back(std::move(prefix));
    return prefixes;
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
    std::filesystem::create_directories(path_, error);
    if (!std::filesystem::is_directory(folder())) {
      throw IoError("crochet: cannot make the directory " + path_.string() + ": " + error.message());
    }
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) io::sync_folder_of(*at, *files_);
  }
  /// Removes files of checkpoints that have no index: their saves were interrupted.
  void remove_leftovers() const {
    std::set<std::filesystem::path> prefixes;
    std::error_code error;
    const std::string start = basename_ + "-";
    for (std::filesystem::directory_iterator at{folder(), error}, end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
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
  /// May all files that it has be read?
  static bool all_readable(const std::filesystem::path& prefix) {
    const auto files = Format::files(prefix);
    return std::all_of(files.begin(), files.end(), [](const auto& file) { return std::ifstream(file).good(); });
  }

 private:
  /// To look into.
  [[nodiscard]] std::filesystem::path folder() const { return path_.empty() ? "." : path_; }

  std::filesystem::path path_;
  std::string basename_;
  io::FileSystem* files_;
};

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The compiled half of checkpoint_directory.hpp.
#pragma once

#include <crochet/checkpoint/checkpoint_directory.hpp>

#include <algorithm>
#include <charconv>
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
#include <crochet/storage/absolute_path.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/names_in.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::detail {

CROCHET_INLINE std::int64_t step_of(const std::filesystem::path& prefix, std::string_view basename) {
  const std::string name = prefix.filename().string();
  const std::string start = std::string(basename) + "-";
  if (!name.starts_with(start)) return -1;
  std::int64_t step = -1;
  const char* const first = name.data() + start.size();
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc{} && end == last && *first != '-' ? step : -1;
}

}  // namespace crochet::detail

namespace crochet {

CROCHET_INLINE std::filesystem::path CheckpointDirectory::prefix_of(std::int64_t step, bool padded) const {
  std::string digits = std::to_string(step);
  if (padded && digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return path_ / (basename_ + "-" + digits);
}

CROCHET_INLINE std::vector<std::filesystem::path> CheckpointDirectory::found() const {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> steps;
  std::error_code error;
  for (const std::string& name : io::names_in(path_, error)) {
    const std::filesystem::path prefix = path_ / std::filesystem::path(name).stem();
    const std::int64_t step = detail::step_of(prefix, basename_);
    if (step >= 0 && path_ / name == format_->index_file(prefix)) {
      steps.emplace_back(step, prefix);
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw IoError("crochet: cannot read " + path_.string() + ": " + error.message());
  }
  std::sort(steps.begin(), steps.end());
  std::vector<std::filesystem::path> prefixes;
  prefixes.reserve(steps.size());
  for (auto& [step, prefix] : steps) prefixes.push_back(std::move(prefix));
  return prefixes;
}

CROCHET_INLINE std::string CheckpointDirectory::of_another_format() const {
  std::int64_t newest = -1;
  std::string text;
  std::error_code error;
  for (const std::string& name : io::names_in(path_, error)) {
    const bool is_bundle = name.ends_with(".index");
    if (!is_bundle && !name.ends_with(".safetensors")) continue;
    const std::filesystem::path prefix = path_ / std::filesystem::path(name).stem();
    const std::int64_t step = detail::step_of(prefix, basename_);
    if (step <= newest || path_ / name == format_->index_file(prefix)) continue;
    newest = step;
    text = name + ", which Saver<io::" + (is_bundle ? "TensorBundle" : "Safetensors") + "> reads";
  }
  return text;
}

CROCHET_INLINE bool CheckpointDirectory::exists() const {
  std::error_code error;
  return std::filesystem::is_directory(path_, error);
}

CROCHET_INLINE void CheckpointDirectory::make() const {
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

CROCHET_INLINE std::optional<std::filesystem::path> CheckpointDirectory::inside(
    const std::filesystem::path& prefix) const {
  const std::filesystem::path parent = prefix.has_parent_path() ? prefix.parent_path() : ".";
  std::error_code error;
  const bool same =
      io::plain_path(parent) == io::plain_path(path_) || std::filesystem::equivalent(parent, path_, error);
  if (!same || !prefix.has_filename()) return std::nullopt;
  return path_ / prefix.filename();
}

CROCHET_INLINE std::optional<std::filesystem::path> CheckpointDirectory::link_to_outside(
    const std::filesystem::path& prefix) const {
  for (const std::filesystem::path& file : format_->files(prefix)) {
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

CROCHET_INLINE void CheckpointDirectory::remove_leftovers() const {
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
    if (io::checkpoint_exists(*format_, prefix)) continue;
    for (const std::filesystem::path& file : format_->files(prefix)) {
      if (file.extension() != ".meta") (void)files_->remove(file);  // TensorFlow's graph, which no save here writes
    }
  }
}

CROCHET_INLINE void CheckpointDirectory::set_aside(const std::filesystem::path& prefix) const {
  for (const std::filesystem::path& file : format_->files(prefix)) {
    std::filesystem::path name = file;
    if (const std::error_code error = files_->rename(file, name += ".damaged")) {
      throw IoError("crochet: cannot rename " + file.string() + ": " + error.message());
    }
  }
}

CROCHET_INLINE void CheckpointDirectory::require_no_dangling_link(const std::filesystem::path& at) {
  std::error_code error;
  if (!std::filesystem::is_symlink(at, error)) return;
  throw IoError("crochet: " + at.string() + " is a link to " + std::filesystem::read_symlink(at, error).string() +
                ", which does not exist; make it, or remove the link");
}

}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The folder with the directories of a session's dumped runs.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <crochet/base/error.hpp>

namespace crochet::debug {

/// Expands a leading `~` or `~user` to a home folder; for an unknown user returns the path unchanged.
inline std::filesystem::path expand_user(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (!text.starts_with('~')) return path;
  const std::string user = text.substr(1, text.find('/') - 1);
  const char* home = user.empty() ? std::getenv("HOME") : nullptr;
  if (home == nullptr) {
    const passwd* entry = user.empty() ? ::getpwuid(::getuid()) : ::getpwnam(user.c_str());
    if (entry == nullptr) return path;
    home = entry->pw_dir;
  }
  return home + text.substr(user.size() + 1);
}

/// Prepares the folder for the dumps of one session, as TensorFlow's hook does. It is created with its parents, or it
/// exists and is empty. Returns its absolute path. Throws FailedPreconditionError for a path that is not a folder, a
/// folder that is not empty, or a path with one of `*?[`, which readers would interpret as a pattern; IoError if the
/// folder cannot be created.
inline std::filesystem::path open_session_root(const std::filesystem::path& wanted) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    throw FailedPreconditionError("crochet: the session root of the dumps, " + wanted.string() + ", " + why);
  };
  std::error_code error;
  const fs::path root = fs::absolute(expand_user(wanted), error);
  if (wanted.empty() || error) refuse("is no path: name a folder");
  if (root.string().find_first_of("*?[") != std::string::npos)
    refuse("must not contain *, ? or [: readers search for files by patterns");
  const fs::file_status status = fs::status(root, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) refuse("is not a folder");
    if (!fs::is_empty(root, error) || error) refuse("is not empty: give each session a folder of its own");
  } else if (fs::create_directories(root, error); error) {
    throw IoError("crochet: the session root of the dumps, " + root.string() + ", cannot be made: " + error.message());
  }
  return root;
}

}  // namespace crochet::debug

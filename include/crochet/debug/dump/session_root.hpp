// SPDX-License-Identifier: Apache-2.0
// The folder that holds the directories of a session's dumped runs.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <crochet/base/error.hpp>

namespace crochet::debug {

/// `~` and `~user` at the beginning become a home folder; the path as it is where there is no such user.
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

/// Makes the folder ready for the dumps of one session, as the original's hook does: it is made, with those above it,
/// or it is there and empty. Returns its absolute path. Throws FailedPreconditionError for one that is no folder, is
/// not empty, or has one of `*?[` in its path, which readers would take for a pattern; IoError if it cannot be made.
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

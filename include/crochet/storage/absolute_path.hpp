// SPDX-License-Identifier: Apache-2.0
// absolute_path: for objects that use a path later than they get it. plain_path: for comparing paths by their text.
#pragma once

#include <filesystem>
#include <system_error>

namespace crochet::io {

/// The path from the root, which stays the same if the program enters another folder. A relative path is one below the
/// folder that is current now; it is returned as it is if that folder was removed. Any thread.
inline std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute;
}

/// Where a link leads; the link itself if it leads nowhere.
inline std::filesystem::path target_of(const std::filesystem::path& link) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::canonical(link, error);
  return error ? link : target;
}

/// The path without "." and "..", for comparisons. A ".." behind a link leads to the parent of the link's target, as
/// the system has it; std::filesystem::path::lexically_normal removes the link's name. Other links remain. Any thread.
/// Cost: a call of the system for each "..".
inline std::filesystem::path plain_path(const std::filesystem::path& path) {
  std::filesystem::path plain;
  for (const std::filesystem::path& part : path) {
    std::error_code error;
    if (part == ".") continue;
    if (part == ".." && std::filesystem::is_symlink(plain, error)) plain = target_of(plain);
    plain = part == ".." ? (plain / part).lexically_normal() : plain / part;
  }
  return plain.empty() ? "." : plain.lexically_normal();
}

}  // namespace crochet::io

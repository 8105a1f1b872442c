// SPDX-License-Identifier: Apache-2.0
// absolute_path: for objects that use a path later than they get it.
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

}  // namespace crochet::io

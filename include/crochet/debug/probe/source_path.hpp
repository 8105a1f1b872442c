// SPDX-License-Identifier: Apache-2.0
// Finds a source file that was compiled under a relative path.
#pragma once

#include <filesystem>
#include <system_error>

namespace crochet::debug {

namespace detail {
inline std::filesystem::path this_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none);
}
}  // namespace detail

/// Makes `path` absolute. ccache and reproducible builds pass relative paths to the compiler, and the folder in which
/// the compiler ran is not recorded. A relative path is searched in the current folder, then in the folder of
/// `program`, then in its parent folders, because a program is usually built below the folder in which the compiler
/// ran. An absolute path, or one that is not found, is returned unchanged. Throws only std::bad_alloc. Cost: a few file
/// system lookups.
inline std::filesystem::path source_path(const std::filesystem::path& path,
                                         const std::filesystem::path& program = detail::this_program()) {
  if (path.empty() || path.is_absolute()) return path;
  std::error_code error;
  const auto found_in = [&](const std::filesystem::path& folder) {
    return std::filesystem::is_regular_file(folder / path, error);
  };
  const auto full = [&](const std::filesystem::path& folder) {
    const std::filesystem::path file = std::filesystem::canonical(folder / path, error);
    return error ? path : file;
  };
  if (found_in(".")) return full(".");
  for (std::filesystem::path folder = program; folder.has_relative_path();) {
    folder = folder.parent_path();
    if (found_in(folder)) return full(folder);
  }
  return path;
}

}  // namespace crochet::debug

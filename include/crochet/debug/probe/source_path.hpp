// SPDX-License-Identifier: Apache-2.0
// Where a source file is that the compiler knew by a relative path.
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

/// `path` as an absolute one. ccache and reproducible builds give the compiler paths that are relative to the folder in
/// which it runs, and nothing tells which that was: a relative path is looked for in the current folder, then in the
/// folder of `program` and in those above it, since programs are mostly made below the folder in which compilers run.
/// What is absolute, or found nowhere, stays as it is. Throws nothing but std::bad_alloc. Cost: a few questions to the
/// file system.
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

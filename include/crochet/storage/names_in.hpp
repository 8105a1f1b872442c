// SPDX-License-Identifier: Apache-2.0
// names_in: the names in a directory.
#pragma once

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#if __has_include(<unistd.h>)
#include <dirent.h>
#endif

namespace crochet::io {

/// The names in a directory, unordered, without "." and ".."; empty and an error if it cannot be read. Does not use
/// std::filesystem's iterators: they terminate the program if memory is exhausted (libstdc++ 12).
inline std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  error.clear();
#if __has_include(<unistd.h>)
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  if (!opened) {
    error = std::error_code{errno, std::generic_category()};
    return names;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;  // an allocation that succeeds may change it
  }
  if (errno != 0) error = std::error_code{errno, std::generic_category()};
#else
  for (std::filesystem::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
#endif
  if (error) names.clear();
  return names;
}

}  // namespace crochet::io

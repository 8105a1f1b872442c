// SPDX-License-Identifier: Apache-2.0
// Lists the regular files below a folder, within limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>

namespace crochet::debug {

/// Limits for reading a dump. Anything beyond a limit is reported and omitted.
struct DumpLimits {
  std::size_t files = 1'000'000;                           ///< files of one run; about 300 bytes of memory each
  std::size_t depth = 64;                                  ///< nested folders, the parts of a node's name
  std::uint64_t graph_bytes = std::uint64_t{512} << 20;    ///< size of one graph; its memory: see DumpGraph
  std::uint64_t metadata_bytes = std::uint64_t{16} << 20;  ///< size of one file of metadata, fetches or feeds
};

/// Errors in a dump, each a sentence with the file and the cause. The rest of the dump stays readable.
using DumpProblems = std::vector<std::string>;

namespace detail {

/// Appends the entries of a folder, sorted by name. Adds a problem if there are more than `most`, and omits the rest.
/// Adds a problem and returns false if the folder cannot be listed.
inline bool list_folder(const std::filesystem::path& folder, std::size_t most,
                        std::vector<std::filesystem::directory_entry>& to, DumpProblems& problems) {
  std::error_code error;
  std::filesystem::directory_iterator at{folder, error};
  for (; !error && at != std::filesystem::directory_iterator{}; at.increment(error)) {
    if (to.size() == most) {
      problems.push_back("crochet: " + folder.string() + " has more than the " + std::to_string(most) +
                         " files that are looked at");
      break;
    }
    to.push_back(*at);
  }
  if (error) problems.push_back("crochet: cannot read " + folder.string() + ": " + error.message());
  std::sort(to.begin(), to.end(), [](const auto& a, const auto& b) { return a.path() < b.path(); });
  return !error;
}

/// Calls `each(entry, relative path)` for the regular files below `top`. Iterative, so that a deep tree does not
/// exhaust the stack. Links are not followed; links and special files become problems.
template <class F>
void each_file_below(const std::filesystem::path& top, const DumpLimits& limits, std::size_t& left,
                     DumpProblems& problems, F each) {
  std::vector<std::pair<std::string, std::size_t>> folders{{std::string{}, 1}};  // relative path and depth
  while (!folders.empty()) {
    const auto [folder, depth] = std::move(folders.back());
    folders.pop_back();
    std::vector<std::filesystem::directory_entry> entries;
    list_folder(folder.empty() ? top : top / folder, left, entries, problems);
    left -= entries.size();
    for (const std::filesystem::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      std::string relative = folder;
      if (!folder.empty()) relative += '/';
      relative += name;
      std::error_code error;
      const std::filesystem::file_status status = entry.symlink_status(error);
      if (std::filesystem::is_directory(status)) {
        if (depth < limits.depth) {
          folders.emplace_back(std::move(relative), depth + 1);
        } else {
          problems.push_back("crochet: " + entry.path().string() + " lies too deep to be part of a node's name");
        }
      } else if (std::filesystem::is_regular_file(status)) {
        each(entry, relative);
      } else {
        problems.push_back("crochet: " + entry.path().string() + " is no plain file");
      }
    }
  }
}

}  // namespace detail
}  // namespace crochet::debug

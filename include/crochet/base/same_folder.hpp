// SPDX-License-Identifier: Apache-2.0
// same_folder: "run/" and "./run" are "run".
#pragma once

#include <string_view>
#include <system_error>

namespace crochet::detail {

/// Whether two paths lead to one folder, which need not exist. Path: std::filesystem::path, whose header the caller
/// includes where it makes one; or a text, of which only slashes at the end are ignored.
template <class Path>
bool same_folder(const Path& a, const Path& b) {
  if constexpr (requires { a.lexically_normal(); }) {
    std::error_code none;
    if (exists(a, none) || exists(b, none)) return equivalent(a, b, none);  // ".." behind a link is not in the text
    const auto whole = [&](const Path& folder) { return absolute(folder / "", none).lexically_normal(); };
    return whole(a) == whole(b);
  } else {
    const auto trimmed = [](std::string_view folder) {
      while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
      return folder;
    };
    return trimmed(a) == trimmed(b);
  }
}

}  // namespace crochet::detail

// SPDX-License-Identifier: Apache-2.0
// Where a rank writes files that each rank has.
#pragma once

#include <filesystem>
#include <string>

namespace crochet::detail {

/// `folder/rank_2` for rank 2 of several; `folder` itself in a session on one machine.
inline std::filesystem::path rank_folder(const std::filesystem::path& folder, int rank, int size) {
  return size > 1 ? folder / ("rank_" + std::to_string(rank)) : folder;
}
/// `folder/rank_2/file` for `folder/file`; an empty path stays empty.
inline std::filesystem::path rank_file(const std::filesystem::path& file, int rank, int size) {
  return file.empty() ? file : rank_folder(file.parent_path(), rank, size) / file.filename();
}

}  // namespace crochet::detail

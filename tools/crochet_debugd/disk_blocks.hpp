// SPDX-License-Identifier: Apache-2.0
// The disk space of files and folders, as counted for limits.
#pragma once

#include <cstdint>

namespace crochet::debugd {

inline constexpr std::uint64_t disk_block = 4096;  // bytes; also of a folder

/// The space of a file of this size: whole blocks, at least one, so that many small files count as well.
constexpr std::uint64_t blocks_of_file(std::uint64_t bytes) {
  return bytes <= disk_block ? disk_block : (bytes + disk_block - 1) / disk_block * disk_block;
}

}  // namespace crochet::debugd

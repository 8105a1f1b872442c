// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of pages: the text of a page, and the lines of its blocks. Needs CROCHET_SOURCE_DIR, the root of
// the repository. check_blocks.py checks that the C++ blocks are compiled.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace crochet::test {

/// The text of a file; `path` is below the root.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(std::filesystem::path(CROCHET_SOURCE_DIR) / path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines of the code blocks of a page that begin with this line, without empty lines.
inline std::vector<std::string> block_lines(const std::filesystem::path& path, std::string_view fence) {
  std::istringstream page{text_of(path)};
  std::vector<std::string> lines;
  bool inside = false, wanted = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      wanted = inside && line == fence;
    } else if (wanted && !line.empty()) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace crochet::test

// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of pages: the code blocks of a page, and whether a compiled file has them. Needs
// CROCHET_SOURCE_DIR, the root of the repository.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
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

/// Without blanks and line ends, and without comments.
inline std::string squeezed(const std::string& text) {
  std::istringstream lines{text};
  std::string all;
  for (std::string line; std::getline(lines, line);)
    for (const char c : line.substr(0, line.find("//")))
      if (std::isspace(static_cast<unsigned char>(c)) == 0) all += c;
  return all;
}

/// The code blocks of a page that begin with this line, each as its lines.
inline std::vector<std::vector<std::string>> code_blocks(const std::filesystem::path& path, std::string_view fence) {
  std::istringstream page{text_of(path)};
  std::vector<std::vector<std::string>> blocks;
  bool inside = false, wanted = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      wanted = inside && line == fence;
      if (wanted) blocks.emplace_back();
    } else if (wanted && !line.empty()) {
      blocks.back().push_back(line);
    }
  }
  return blocks;
}

/// The lines of these blocks.
inline std::vector<std::string> block_lines(const std::filesystem::path& path, std::string_view fence) {
  std::vector<std::string> lines;
  for (const auto& block : code_blocks(path, fence)) lines.insert(lines.end(), block.begin(), block.end());
  return lines;
}

/// Checks that a compiled file has each C++ block of the page as a whole, apart from blanks and comments, in any order.
/// #include lines are compared one by one.
inline void expect_compiled(const std::filesystem::path& page, const std::filesystem::path& file) {
  const std::string compiled = squeezed(text_of(file));
  const auto blocks = code_blocks(page, "```cpp");
  EXPECT_FALSE(blocks.empty()) << page;
  for (const auto& block : blocks) {
    std::string code;
    for (const std::string& line : block) {
      if (!line.starts_with("#include")) {
        code += line + '\n';
      } else {
        EXPECT_NE(compiled.find(squeezed(line)), std::string::npos) << page << ": " << line;
      }
    }
    EXPECT_NE(compiled.find(squeezed(code)), std::string::npos) << page << ":\n" << code;
  }
}

}  // namespace crochet::test

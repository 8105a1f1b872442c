// SPDX-License-Identifier: Apache-2.0
// The bytes of a file that a test looks at.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace crochet::test {

/// All of the file; one that cannot be read fails the test.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace crochet::test

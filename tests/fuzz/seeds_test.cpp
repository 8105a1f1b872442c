// SPDX-License-Identifier: Apache-2.0
// The seeds of a fuzz target: compiled once, and linked with each target (fuzz_target.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

void fuzz(std::string_view input);
extern const char* const seeds_folder;

namespace crochet::test {
namespace {

std::vector<std::filesystem::path> seeds() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{seeds_folder}) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}
std::string contents(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// The targets' own `require`s and the sanitizers check the results.
TEST(Seeds, AreThere) { EXPECT_GT(seeds().size(), 3u); }

TEST(Seeds, DoNoHarm) {
  for (const std::filesystem::path& seed : seeds()) {
    SCOPED_TRACE(seed.filename().string());
    fuzz(contents(seed));
  }
}

TEST(Seeds, DoNoHarmWhereverTheyEnd) {
  for (const std::filesystem::path& seed : seeds()) {
    const std::string input = contents(seed);
    const std::size_t step = std::max<std::size_t>(1, input.size() / 100);
    for (std::size_t size = 0; size < input.size(); size += step) fuzz(std::string_view{input}.substr(0, size));
  }
}

TEST(Seeds, DoNoHarmWithOtherBytesInThem) {
  std::mt19937 random{1};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
  for (const std::filesystem::path& seed : seeds()) {
    const std::string input = contents(seed);
    for (int i = 0; i < 50 && !input.empty(); ++i) {
      std::string changed = input;
      for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
        changed[below(changed.size())] = static_cast<char>(below(256));
      }
      fuzz(changed);
    }
  }
}

}  // namespace
}  // namespace crochet::test

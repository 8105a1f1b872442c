// SPDX-License-Identifier: Apache-2.0
// A fuzz target is a file with this include and one function:
//
//     void fuzz(std::string_view input) { ... }     // for any bytes: no crash, no undefined behaviour, no hang
//
// With the preset `fuzz` it is a libFuzzer program. With other presets it is a test that runs its seeds (the files in
// seeds/<target>/), also truncated and changed in a few places, under every compiler and sanitizer. An input that once
// crashed becomes a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

void fuzz(std::string_view input);

/// Aborts unless the condition holds. Conditions must hold for every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

#if defined(CROCHET_FUZZER)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}

#else

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace crochet::test {

inline std::vector<std::filesystem::path> seeds() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{CROCHET_SEEDS}) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}
inline std::string contents(const std::filesystem::path& path) {
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
    const std::size_t step = std::max<std::size_t>(1, input.size() / 200);
    for (std::size_t size = 0; size < input.size(); size += step) fuzz(std::string_view{input}.substr(0, size));
  }
}

TEST(Seeds, DoNoHarmWithOtherBytesInThem) {
  std::mt19937 random{1};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
  for (const std::filesystem::path& seed : seeds()) {
    const std::string input = contents(seed);
    for (int i = 0; i < 100 && !input.empty(); ++i) {
      std::string changed = input;
      for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
        changed[below(changed.size())] = static_cast<char>(below(256));
      }
      fuzz(changed);
    }
  }
}

}  // namespace crochet::test

#endif

// SPDX-License-Identifier: Apache-2.0
// The folder of compiled plans: entries are found again, verified, shared and limited.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <crochet/executor/cuda/cubin_cache.hpp>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace crochet::cuda {
namespace cubin_cache_test {

class Cubins : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string find(const CubinCache& cache, const std::string& key) {
    return cache.find_or_compile(key, [&] {
      ++compiled_;
      return "code of " + key;
    });
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.push_back(entry.path());
    return all;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("crochet-cubins-" + std::to_string(getpid()));
  int compiled_ = 0;
};

TEST_F(Cubins, AreCompiledOnce) {
  const CubinCache cache(folder_ / "new");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(find(cache, "b"), "code of b");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(find(CubinCache(folder_ / "new"), "b"), "code of b");
  EXPECT_EQ(compiled_, 2);
}

TEST_F(Cubins, ThatAreDamagedAreCompiledAgain) {
  const CubinCache cache(folder_);
  find(cache, "a");
  ASSERT_EQ(files().size(), 1U);
  const auto size = std::filesystem::file_size(files()[0]);
  for (std::uintmax_t at = 0; at < size; ++at) {
    {
      std::fstream file(files()[0], std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 1));
    }
    compiled_ = 0;
    EXPECT_EQ(find(cache, "a"), "code of a");
    EXPECT_EQ(compiled_, 1) << "byte " << at;
    std::filesystem::resize_file(files()[0], at);
    EXPECT_EQ(find(cache, "a"), "code of a");
    EXPECT_EQ(compiled_, 2) << "cut at byte " << at;
  }
}

TEST_F(Cubins, AreRemovedOldestFirst) {
  const CubinCache cache(folder_, 200);
  for (const std::string key : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    find(cache, key);
    for (const auto& file : files()) {  // make every entry older than the next
      std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) - std::chrono::seconds(10));
    }
  }
  std::uintmax_t bytes = 0;
  for (const auto& file : files()) bytes += std::filesystem::file_size(file);
  EXPECT_LE(bytes, 200U);
  compiled_ = 0;
  find(cache, "h");
  EXPECT_EQ(compiled_, 0);
}

TEST_F(Cubins, InAFolderThatCannotBeWrittenAreCompiledEachTime) {
  std::ofstream(folder_ / "file") << "no folder";
  const CubinCache cache(folder_ / "file");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(compiled_, 2);
}

/// The file of "a".
std::filesystem::path made_for_a(const CubinCache& cache, const std::filesystem::path& folder) {
  cache.find_or_compile("a", [] { return std::string("code of a"); });
  const std::filesystem::path path = std::filesystem::directory_iterator(folder)->path();
  std::filesystem::remove(path);
  return path;
}
TEST_F(Cubins, InPlaceOfWhichSomethingElseLiesAreCompiled) {
  const CubinCache cache(folder_, 200);
  const std::filesystem::path path = made_for_a(cache, folder_);
  std::filesystem::create_directories(path / "folder");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(files().size(), 1U) << "a temporary file is left";
  std::filesystem::remove_all(path);

  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // opening it would block
  EXPECT_EQ(find(cache, "a"), "code of a");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);  // has no end
  EXPECT_EQ(find(cache, "a"), "code of a");
  std::filesystem::remove(path);
  std::ofstream(path) << "large";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // has no bytes on disk
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(compiled_, 4);
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(compiled_, 4);
}

TEST_F(Cubins, ASymbolicLinkIsReplacedAndItsTargetStays) {
  const CubinCache cache(folder_ / "cache");
  const std::filesystem::path path = made_for_a(cache, folder_ / "cache");
  std::ofstream(folder_ / "document") << "mine";
  std::filesystem::create_symlink(folder_ / "document", path);
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(find(cache, "a"), "code of a");
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "document"), 4U);
}

TEST_F(Cubins, FilesOfProgramsThatWereKilledAndFoldersDoNotFillTheFolder) {
  const CubinCache cache(folder_, 200);
  std::filesystem::create_directory(folder_ / "0000000000000000.cubin");
  for (const char* name : {"0123456789abcdef.cubin.17-0", "0123456789abcdef.cubin.17-1.tmp"}) {
    std::ofstream(folder_ / name) << std::string(1000, 'x');
    std::filesystem::last_write_time(folder_ / name,
                                     std::filesystem::last_write_time(folder_ / name) - std::chrono::seconds(10));
  }
  for (const char* name : {"notes", "my_kernel.cubin", "abc.cubin.bak"}) {
    std::ofstream(folder_ / name) << std::string(1000, 'x');
  }
  find(cache, "a");
  std::uintmax_t bytes = 0;
  for (const auto& file : files())
    bytes += std::filesystem::is_regular_file(file) ? std::filesystem::file_size(file) : 0;
  EXPECT_LE(bytes, 3200U) << "the other files are not the cache's";
  EXPECT_EQ(files().size(), 5U) << "three others, the folder and the entry";
  find(cache, "a");
  EXPECT_EQ(compiled_, 1);
}

TEST_F(Cubins, ErrorsOfTheCompilerPassThroughAndLeaveNothing) {
  const CubinCache cache(folder_);
  EXPECT_THROW(cache.find_or_compile("a", []() -> std::string { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_TRUE(files().empty());
}

TEST_F(Cubins, AreSharedByThreads) {
  std::vector<std::thread> threads;
  constexpr int count = 4;
  threads.reserve(count);
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      const CubinCache cache(folder_);
      for (int k = 0; k < 50; ++k) {
        const std::string key = std::to_string(k % 5);
        EXPECT_EQ(cache.find_or_compile(key, [&] { return "code of " + key; }), "code of " + key);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(Cubins, LieInTheFolderThatTheEnvironmentNames) {
  setenv("CROCHET_CACHE_DIR", "/own", 1);
  EXPECT_EQ(CubinCache::default_folder(), "/own");
  unsetenv("CROCHET_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(CubinCache::default_folder(), "/cache/crochet");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(CubinCache::default_folder(), "/home/me/.cache/crochet");
}

}  // namespace cubin_cache_test
}  // namespace crochet::cuda

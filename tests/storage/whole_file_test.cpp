// SPDX-License-Identifier: Apache-2.0
// write_whole_file: what it may replace. Errors of the disk: io/durability_test.cpp.
#include <crochet/storage/whole_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "../io/temporary_folder.hpp"

namespace whole_file_test {

namespace fs = std::filesystem;

TEST(WholeFile, TakesThePlaceOfNothingButAFile) {
  const crochet::test::TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink(folder / "pipe", folder / "link");
  for (const std::string name : {"empty", "pipe", "link"}) {
    EXPECT_THROW(crochet::io::write_whole_file(folder / name, {}), crochet::IoError) << name;
    EXPECT_TRUE(fs::exists(folder / name) && !fs::is_regular_file(folder / name)) << name;
    EXPECT_FALSE(fs::exists(folder / (name + ".tmp"))) << name;
  }
}

}  // namespace whole_file_test

// SPDX-License-Identifier: Apache-2.0
#include <crochet/storage/absolute_path.hpp>

#include <gtest/gtest.h>

#include <filesystem>

#include "../io/temporary_folder.hpp"

namespace absolute_path_test {

namespace fs = std::filesystem;
using crochet::io::plain_path;

TEST(PlainPath, HasNoDots) {
  EXPECT_EQ(plain_path("a/./b//c/../d"), "a/b/d");
  EXPECT_EQ(plain_path("./a"), "a");
  EXPECT_EQ(plain_path("../a"), "../a");
  EXPECT_EQ(plain_path("/.."), "/");
  EXPECT_EQ(plain_path("a/b/"), "a/b/");
  EXPECT_EQ(plain_path("a/.."), ".");
  EXPECT_EQ(plain_path("."), ".");
}

TEST(PlainPath, GoesFromALinkToTheParentOfItsTarget) {
  const crochet::test::TemporaryFolder folder;
  fs::create_directories(folder / "real/inner");
  fs::create_directory_symlink(folder / "real/inner", folder / "link");
  const fs::path real = fs::canonical(folder / "real");
  EXPECT_EQ(plain_path(folder / "link/../logs"), real / "logs");
  EXPECT_EQ(plain_path(folder / "link/./../logs"), real / "logs");
  EXPECT_EQ(plain_path(folder / "link/logs/../x"), folder / "link/x") << "a link in front remains";
  fs::create_symlink("nowhere", folder / "dangling");
  EXPECT_EQ(plain_path(folder / "dangling/../logs"), folder / "logs");
}

}  // namespace absolute_path_test

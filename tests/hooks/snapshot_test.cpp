// SPDX-License-Identifier: Apache-2.0
// Snapshot: a file is complete or does not exist.
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/snapshot.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace snapshot_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using cr::value;
using cr::testing::Script;

/// A folder for one test, initially empty, removed after the test.
class Snapshots : public ::testing::Test {
 protected:
  Snapshots()
      : folder_(fs::path(::testing::TempDir()) /
                (std::string("crochet_snapshot_") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~Snapshots() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename().string());
    return names;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(Snapshots, AreNumpyFiles) {
  const std::vector<double> grid{1, 2, 3, 4, 5, 6};
  Script run{cr::Snapshot<"temperature">{folder_.string()}};
  run.set_step(41);
  run.step(value<"temperature">(cr::TensorView<double, 2>{grid.data(), {2, 3}}));

  const std::string file = content("temperature-42.npy");
  ASSERT_EQ(file.size(), 128 + 6 * sizeof(double));
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(file[8], 118) << "the header is 128 bytes, 10 of them before it";
  EXPECT_NE(file.find("{'descr': '<f8', 'fortran_order': False, 'shape': (2,3,), }"), std::string::npos);
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(std::memcmp(file.data() + 128, grid.data(), 6 * sizeof(double)), 0);
}

TEST_F(Snapshots, TakeScalarsAndFlatRanges) {
  const std::vector<std::int32_t> counts{7, 8};
  Script run{cr::HookChain{cr::Snapshot<"loss">{folder_}, cr::Snapshot<"block/counts">{folder_}}};
  run.step(value<"loss">(0.5f), value<"block/counts">(std::span<const std::int32_t>(counts)));
  EXPECT_EQ(files(), (std::set<std::string>{"loss-1.npy", "block_counts-1.npy"}));
  EXPECT_NE(content("loss-1.npy").find("'<f4', 'fortran_order': False, 'shape': (), }"), std::string::npos);
  EXPECT_NE(content("block_counts-1.npy").find("'<i4', 'fortran_order': False, 'shape': (2,), }"), std::string::npos);
}

TEST_F(Snapshots, AreTakenWhenADecoratorLetsThem) {
  Script run{cr::EveryN<2, cr::Snapshot<"loss">>{{folder_}}};
  for (int i = 0; i < 4; ++i) run.step(value<"loss">(0.5f));
  EXPECT_EQ(files(), (std::set<std::string>{"loss-2.npy", "loss-4.npy"}));
}

TEST_F(Snapshots, ReplaceOlderOnesAndLeaveNothingElseBehind) {
  for (const float loss : {1.0f, 2.0f}) {
    Script run{cr::Snapshot<"loss">{folder_}};
    run.step(value<"loss">(loss));
  }
  EXPECT_EQ(files(), std::set<std::string>{"loss-1.npy"});
  float last = 0;
  const std::string file = content("loss-1.npy");
  std::memcpy(&last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 2.0f);
}

TEST_F(Snapshots, ThatCannotBeWrittenSayWhyAndLeaveNothing) {
  fs::create_directories(folder_ / "loss-1.npy");  // a folder has this name
  Script run{cr::Snapshot<"loss">{folder_}};
  try {
    run.step(value<"loss">(1.0f));
    FAIL() << "a folder cannot be replaced by a file";
  } catch (const cr::IoError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot write " + (folder_ / "loss-1.npy").string()), std::string::npos);
  }
  EXPECT_EQ(files(), std::set<std::string>{"loss-1.npy"}) << "no temporary file";
}

TEST_F(Snapshots, KeepTheLoopGoingInsideIsolated) {
  fs::create_directories(folder_ / "loss-1.npy");
  cr::testing::RecordingSink sink;
  Script run{cr::Isolated<cr::Snapshot<"loss">>{{folder_}, {.sink = sink}}};
  run.step(value<"loss">(1.0f));
  run.step(value<"loss">(1.0f));
  EXPECT_EQ(run.hook().policy.failures(), 1);
  EXPECT_TRUE(fs::is_regular_file(folder_ / "loss-2.npy"));
}

TEST_F(Snapshots, NeedAFolder) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  const cr::Snapshot<"loss"> hook{folder_ / "file"};
  EXPECT_THROW(hook.begin(), cr::IoError);
  const cr::Snapshot<"loss"> too_long{folder_ / std::string(300, 'x')};
  EXPECT_THROW(too_long.begin(), cr::IoError);
}

TEST(Npy, SpellsElementTypes) {
  EXPECT_EQ(cr::io::npy_type<float>(), "<f4");
  EXPECT_EQ(cr::io::npy_type<std::int64_t>(), "<i8");
  EXPECT_EQ(cr::io::npy_type<std::uint8_t>(), "|u1");
  EXPECT_EQ(cr::io::npy_type<bool>(), "|b1");
  EXPECT_EQ(cr::io::npy_header<float>({}).size() % 64, 0U);
}

}  // namespace snapshot_test

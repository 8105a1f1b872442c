// SPDX-License-Identifier: Apache-2.0
// Checkpoints of earlier versions can be restored. tests/checkpoint/data has the folder of a training for each format:
// Program<Count> of machine.hpp, four runs, each saved with {.max_to_keep = 2, .clock = 1.7e9}. Before the first run,
// Count had said = "line\nbreak", texts = {"", "a\0b", "ö"}, flags = {1, 0, 255}. Commit 89d6030 wrote them. New
// folders are added; existing ones are never changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace old_checkpoints_test {

template <class Format>
class OldCheckpoints : public ::testing::Test {};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(OldCheckpoints, Formats, FormatNames);

TYPED_TEST(OldCheckpoints, AreRestoredAndGoneOnWith) {
  const Directory dir;
  const std::filesystem::path data = std::filesystem::path(CROCHET_SOURCE_DIR) / "tests/checkpoint/data/89d6030";
  std::filesystem::copy(data / TypeParam::name, dir.path(), std::filesystem::copy_options::recursive);
  std::vector<std::string> said;
  test::LocalFilesWithoutSync quick;
  const SaverOptions options{
      .max_to_keep = 2, .say = [&](std::string_view line) { said.emplace_back(line); }, .files = &quick};

  Program<Count> expected;
  for (int i = 0; i < 4; ++i) expected.session.run();
  Program<Count> program;
  Saver<TypeParam> saver{dir.path(), options};
  const auto restored = saver.restore_latest(program.session.raw_session());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->text(), (dir / "model.ckpt-4").string() + ", step 4; hooks: 1 loaded");
  EXPECT_EQ(program.machine.w, expected.machine.w);
  EXPECT_EQ(program.machine.n, expected.machine.n);
  EXPECT_EQ(program.machine.odd, expected.machine.odd);
  EXPECT_EQ(program.session.step(), 4);
  const Count& count = program.chain.template get<Count>();
  EXPECT_EQ(count.runs, 4);
  EXPECT_EQ(count.said, "line\nbreak");
  EXPECT_EQ(count.texts, (std::vector<std::string>{"", std::string("a\0b", 3), "\xc3\xb6"}));
  EXPECT_EQ(count.flags, (std::vector<std::uint8_t>{1, 0, 255}));
  EXPECT_EQ(said.size(), 1U) << said[0];

  saver.save(program.session.raw_session(), 5);
  EXPECT_EQ(saver.last_checkpoints(), (std::vector{dir / "model.ckpt-4", dir / "model.ckpt-5"})) << "the list goes on";
  EXPECT_FALSE(saver.has(dir / "model.ckpt-3")) << "and is swept";
}

}  // namespace old_checkpoints_test
}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
#include <crochet/io/checkpoint_state.hpp>
#include <crochet/storage/whole_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace checkpoint_state_test {

using namespace crochet::io;
using crochet::test::TemporaryFolder;

void write_text(const std::filesystem::path& path, std::string_view text) {
  write_whole_file(path, {std::as_bytes(std::span{text})});
}

TEST(CheckpointState, IsWrittenAsTensorFlowWritesIt) {
  const TemporaryFolder folder;
  write_checkpoint_state(folder.path(), {.newest = folder / "model.ckpt-20",
                                         .all = {folder / "model.ckpt-10", folder / "model.ckpt-20"},
                                         .timestamps = {},
                                         .last_preserved = 0});
  EXPECT_EQ(read_whole_file(folder / "checkpoint"),
            "model_checkpoint_path: \"model.ckpt-20\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-10\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-20\"\n");
}

TEST(CheckpointState, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  const CheckpointState state{.newest = folder / "b\"\\\xc3\xa9\n",
                              .all = {folder / "a", folder / "b\"\\\xc3\xa9\n"},
                              .timestamps = {1700000000.25, 1700000001.125},
                              .last_preserved = 1700000000.25};
  write_checkpoint_state(folder.path(), state, "mine");
  const std::optional<CheckpointState> read = read_checkpoint_state(folder.path(), "mine");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->newest, state.newest);
  EXPECT_EQ(read->all, state.all);
  EXPECT_EQ(read->timestamps, state.timestamps);
  EXPECT_EQ(read->last_preserved, state.last_preserved);
  EXPECT_FALSE(read_checkpoint_state(folder.path()).has_value());
}

TEST(CheckpointState, MovesWithItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "old");
  write_checkpoint_state(folder / "old", {.newest = folder / "old/m-1",
                                          .all = {folder / "elsewhere/m-0", folder / "old/m-1"},
                                          .timestamps = {},
                                          .last_preserved = 0});
  EXPECT_NE(read_whole_file(folder / "old/checkpoint").find("\"../elsewhere/m-0\""), std::string::npos);
  std::filesystem::rename(folder / "old", folder / "new");
  EXPECT_EQ(read_checkpoint_state(folder / "new")->newest, folder / "new/m-1");
  // The folder has several spellings.
  const auto relative = std::filesystem::relative(folder / "new");
  write_checkpoint_state(relative / "",
                         {.newest = folder / "new/m-2", .all = {}, .timestamps = {}, .last_preserved = 0});
  EXPECT_EQ(read_whole_file(folder / "new/checkpoint"), "model_checkpoint_path: \"m-2\"\n");
}

TEST(CheckpointState, TakesAbsolutePathsAndUnknownFields) {
  const TemporaryFolder folder;
  write_text(folder / "checkpoint", "model_checkpoint_path: \"/a/m-1\" from_the_future: 3");
  EXPECT_EQ(read_checkpoint_state(folder.path())->newest, "/a/m-1");
}

TEST(CheckpointState, OfMoreCheckpointsThanAreReadTheLastAreListed) {
  const TemporaryFolder folder;
  CheckpointState state{.newest = folder / "m"};
  for (int i = 0; i < 65'540; ++i) state.all.push_back(folder / ("m-" + std::to_string(i)));
  state.timestamps.assign(state.all.size(), 1.5);
  write_checkpoint_state(folder.path(), state);
  const auto read = read_checkpoint_state(folder.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->all.size(), 65'536u);
  EXPECT_EQ(read->all.front(), folder / "m-4");
  EXPECT_EQ(read->all.back(), folder / "m-65539");
}

TEST(CheckpointState, OfMoreBytesThanAreReadTheLastAreListed) {
  const TemporaryFolder folder;
  CheckpointState state{.newest = folder / "m"};
  for (int i = 0; i < 40'000; ++i) state.all.push_back(folder / (std::string(600, 'm') + std::to_string(i)));
  state.timestamps.assign(state.all.size(), 1.5);
  write_checkpoint_state(folder.path(), state);
  const auto read = read_checkpoint_state(folder.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->all.size(), 20'000u);
  EXPECT_EQ(read->timestamps.size(), 20'000u);
  EXPECT_EQ(read->all.back(), state.all.back());
}

// Among the texts: 200,000 nested messages, 65,537 checkpoints, 16 MiB of blanks.
TEST(CheckpointState, RefusesWhatIsNone) {
  const TemporaryFolder folder;
  const std::string right = "model_checkpoint_path: \"m\" ";
  std::string deep, many = right + "all_model_checkpoint_paths: [";
  for (int i = 0; i < 200'000; ++i) deep += "from_the_future { ";
  for (int i = 0; i < 65'536; ++i) many += "\"\",";
  for (const std::string& text : {std::string("model_checkpoint_path: \"m"), std::string("\xff\xfe"), std::string(),
                                  std::string("model_checkpoint_path: 3"), right + "all_model_checkpoint_timestamps: 1",
                                  right + "last_preserved_timestamp: nan",
                                  right + "all_model_checkpoint_paths: 'm' all_model_checkpoint_timestamps: inf",
                                  right + deep, many + "\"\"]", right + std::string(std::size_t{16} << 20, ' ')}) {
    write_text(folder / "checkpoint", text);
    try {
      (void)read_checkpoint_state(folder.path());
      ADD_FAILURE() << text.substr(0, 100);
    } catch (const crochet::DataLossError& error) {
      EXPECT_NE(std::string(error.what()).find((folder / "checkpoint").string()), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(write_checkpoint_state(folder.path(), {}), crochet::LogicError);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(write_checkpoint_state(folder.path(), {.newest = folder / "m", .last_preserved = infinity}),
               crochet::LogicError)
      << "it could not be read";
}

}  // namespace checkpoint_state_test

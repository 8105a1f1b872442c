// SPDX-License-Identifier: Apache-2.0
// Programs that use the weights of another program: must_restore.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace inference_test {

template <int N>
struct Stateful : Count {};

class Inference : public ::testing::Test {
 protected:
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<std::string> said;

  SaverOptions options() {
    return {.say = [this](std::string_view line) { said.emplace_back(line); }, .files = &quick};
  }
  template <class Format = io::TensorBundle>
  void train(std::initializer_list<int> steps) {
    Program<Count, Stateful<1>, Stateful<2>> program;
    Saver<Format> saver{dir.path(), options()};
    for (int step : steps) program.session.run(), saver.save(program.session.raw_session(), step);
    said.clear();
  }
  /// Creates the session of a program that only predicts. Returns its variable `n`.
  template <class Format = io::TensorBundle>
  std::int32_t predict() {
    std::int32_t n = 0;
    MonitoredSession session{StepExecutor{[](auto&) {}, variable<"n">(n)}, HookChain<>{},
                             must_restore(Saver<Format>{dir.path(), options()})};
    session.close();
    return n;
  }
  template <class Error, class Format = io::TensorBundle>
  std::string refusal() {
    try {
      predict<Format>();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "it predicts from weights that nobody trained";
    return "";
  }
};

TEST_F(Inference, RestoresAndReportsItInOneShortLine) {
  train({1, 2});
  EXPECT_EQ(predict(), 6);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0], "crochet: restored " + (dir / "model.ckpt-2").string() +
                         ", step 2; hooks: 0 loaded, 3 not used; ignored: odd, w");
}

TEST_F(Inference, IsAnErrorWithoutACheckpoint) {
  const std::string pattern = (dir / "model.ckpt-*").string();
  EXPECT_EQ(refusal<IoError>(), "crochet: there is no checkpoint " + pattern +
                                    ": the directory does not exist; save one first, or correct the path");
  std::filesystem::create_directories(dir.path());
  EXPECT_EQ(refusal<IoError>(), "crochet: there is no checkpoint " + pattern + "; save one first, or correct the path");
  EXPECT_EQ(dir.names(), std::set<std::string>{});
}

TEST_F(Inference, NamesTheFormatOfTheCheckpointsThatAreThere) {
  train<io::Safetensors>({1, 2});
  const std::string pattern = "crochet: there is no checkpoint " + (dir / "model.ckpt-*").string();
  EXPECT_EQ(refusal<IoError>(), pattern +
                                    " of this format, but model.ckpt-2.safetensors, which Saver<io::Safetensors> "
                                    "reads; use that type, or correct the path");
  EXPECT_EQ((predict<io::Safetensors>()), 6);
  said.clear();
  Machine machine;
  MonitoredSession session{machine.executor(), HookChain<>{}, restore_latest(Saver{dir.path(), options()})};
  session.close();
  EXPECT_EQ(said.back(), pattern +
                             " of this format, but model.ckpt-2.safetensors, which Saver<io::Safetensors> reads; "
                             "the session begins anew");
}

TEST_F(Inference, NamesTheFormatAlsoInTheOtherDirection) {
  train({7});
  EXPECT_EQ((refusal<IoError, io::Safetensors>()),
            "crochet: there is no checkpoint " + (dir / "model.ckpt-*").string() +
                " of this format, but model.ckpt-7.index, which Saver<io::TensorBundle> reads; use that type, or "
                "correct the path");
}

TEST_F(Inference, NamesNoFormatForFilesThatAreNoCheckpointsOfThisName) {
  std::filesystem::create_directories(dir.path());
  for (const char* name :
       {"model.safetensors", "other-1.safetensors", "model.ckpt-1.txt", "model.ckpt-1.safetensors.tmp"})
    Directory::write(dir / name, "something");
  EXPECT_EQ(refusal<IoError>(), "crochet: there is no checkpoint " + (dir / "model.ckpt-*").string() +
                                    "; save one first, or correct the path");
}

TEST_F(Inference, ChangesNoFile) {
  train({1, 2});
  Directory::write(dir / "model.ckpt-2.index", "damaged");
  const std::set<std::string> before = dir.names();
  EXPECT_EQ(predict(), 3);
  EXPECT_EQ(dir.names(), before);
  EXPECT_FALSE(std::filesystem::exists(dir / ".crochet-lock"));
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0].find("model.ckpt-2.index is damaged"), std::string::npos) << said[0];
  EXPECT_TRUE(said[0].ends_with("; it is passed over")) << said[0];
  Directory::write(dir / "model.ckpt-1.index", "damaged, too");
  const std::string all = refusal<DataLossError>();
  EXPECT_TRUE(all.starts_with("crochet: no checkpoint " + (dir / "model.ckpt-*").string() + " is whole; ")) << all;
  EXPECT_NE(all.find("model.ckpt-1.index is damaged"), std::string::npos) << all;
  EXPECT_EQ(dir.names(), before);
}

TEST_F(Inference, SeesWhatAnotherSaverHasSavedSince) {
  train({1});
  Saver reader{dir.path(), options()};
  Program<> program;
  EXPECT_EQ(reader.must_restore(program.session.raw_session()).step, 1);
  Program<> trained;
  trained.session.run();
  Saver{dir.path(), options()}.save(trained.session.raw_session(), 9);
  EXPECT_EQ(reader.must_restore(program.session.raw_session()).step, 9);
}

TEST_F(Inference, ReportsThatATrainingBeginsAnew) {
  Machine machine;
  Saver saver{dir.path(), options()};
  MonitoredSession session{machine.executor(), HookChain<>{}, restore_latest(saver)};
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0],
            "crochet: there is no checkpoint " + (dir / "model.ckpt-*").string() + "; the session begins anew");
  session.close();
}

}  // namespace inference_test
}  // namespace crochet

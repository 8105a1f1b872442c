// SPDX-License-Identifier: Apache-2.0
// A Saver on a failing disk, or on a machine that stops, at any point of a save.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace saver_faults_test {

/// Saves step 3 after 1 and 2, with files that work for `budget` bytes and calls. Afterwards the restored step must be
/// 2 or 3, and complete. Returns whether the save succeeded.
template <class Format>
bool save_with(const Directory& dir, std::size_t budget, std::error_code error, int& newer) {
  test::LocalFilesWithoutSync quick;
  test::FaultyFiles faulty{budget, error};
  std::vector<std::string> said;
  SaverOptions options;
  options.max_to_keep = 2;
  options.clock = [] { return 1.7e9; };
  options.say = [&](std::string_view line) { said.emplace_back(line); };
  options.files = &quick;
  std::filesystem::remove_all(dir.path());
  Program<Count> program;
  for (Saver<Format> before{dir.path(), options}; const int step : {1, 2}) {
    program.session.run();
    before.save(program.session.raw_session(), step);
  }
  program.session.run();
  options.files = &faulty;
  bool done = false;
  try {
    Saver<Format>(dir.path(), options).save(program.session.raw_session(), 3);
    done = true;
  } catch (const test::MachineStopped&) {
  } catch (const IoError& failure) {
    EXPECT_NE(std::string(failure.what()).find(error.message()), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(dir.path().string()), std::string::npos) << failure.what();
  }
  options.files = &quick;
  said.clear();
  Program<Count> again;
  const auto restored = Saver<Format>(dir.path(), options).restore_latest(again.session.raw_session());
  EXPECT_TRUE(restored && (restored->step == 3 || (restored->step == 2 && !done))) << budget;
  EXPECT_EQ(said.size(), 1U) << said[0] << " after " << budget;
  EXPECT_EQ(again.machine.n, 3 * again.session.step());
  EXPECT_EQ(again.chain.template get<Count>().runs, again.session.step());
  Saver<Format> after{dir.path(), options};
  after.save(again.session.raw_session(), 4);
  std::set<std::string> expected{"checkpoint"};
  for (const auto& prefix : after.last_checkpoints()) {
    for (const auto& file : Format::files(prefix)) expected.insert(file.filename().string());
  }
  const std::set<std::string> names = dir.names();
  for (const std::string& name : names) {
    const bool unlisted = !done && name.starts_with("model.ckpt-");  // complete, but not listed, or not removed
    EXPECT_TRUE(expected.contains(name) || unlisted) << name << " after " << budget;
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name << " after " << budget;
  }
  newer += restored && restored->step == 3 ? 1 : 0;
  return done && faulty.had_enough();
}
template <class Format>
void fail_everywhere(const Directory& dir, std::error_code error) {
  std::size_t budget = 0;
  int newer = 0;
  // With strides: the formats' own tests try every byte (tests/io/durability_test.cpp).
  while (!save_with<Format>(dir, budget, error, newer) && !::testing::Test::HasFailure()) budget += 1 + budget % 23;
  EXPECT_GT(budget, 400U);
  EXPECT_GE(newer, 1);
}

TEST(SaverFaults, KeepAWholeCheckpointWhereverTheDiskIsFull) {
  const Directory dir;
  fail_everywhere<io::TensorBundle>(dir, std::make_error_code(std::errc::no_space_on_device));
  fail_everywhere<io::Safetensors>(dir, std::make_error_code(std::errc::no_space_on_device));
}
TEST(SaverFaults, KeepAWholeCheckpointWhereverTheMachineStops) {
  const Directory dir;
  fail_everywhere<io::TensorBundle>(dir, {});
  fail_everywhere<io::Safetensors>(dir, {});
}

TEST(SaverFaults, LeaveTheFilesOfOtherFormatsAlone) {
  const Directory dir;
  Program<> program;
  Saver{dir.path()}.save(program.session.raw_session(), 1);
  Directory::write(dir / "model.ckpt-1.meta", "a graph of TensorFlow's");
  Saver<io::Safetensors>{dir.path(), {.max_to_keep = 1}}.save(program.session.raw_session(), 2);
  EXPECT_EQ(dir.names(), (std::set<std::string>{"checkpoint", "model.ckpt-1.index", "model.ckpt-1.data-00000-of-00001",
                                                "model.ckpt-1.meta", "model.ckpt-2.safetensors"}));
}

}  // namespace saver_faults_test
}  // namespace crochet

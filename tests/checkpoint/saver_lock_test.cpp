// SPDX-License-Identifier: Apache-2.0
// A checkpoint folder has one writing process and any number of readers.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/faulty_files.hpp"
#include "../io/process.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace saver_lock_test {

using test::Process;

/// Loses the session once, at step 2.
struct LosesTheMachine {
  void after_run(auto& run, const auto&) {
    if (run.step() == 2 && !std::exchange(*lost, true)) throw UnavailableError("the machine went away");
  }
  std::shared_ptr<bool> lost = std::make_shared<bool>(false);
};

class SaverLock : public ::testing::Test {
 protected:
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<std::string> said;

  SaverOptions options() {
    return {.say = [this](std::string_view line) { said.emplace_back(line); }, .files = &quick};
  }
  /// Saves steps 1 and 2. Keeps the folder locked.
  std::string train() {
    static auto& program = *new Program<Count>;
    static auto& saver = *new Saver<>{dir.path(), options()};
    for (int step : {1, 2}) program.session.run(), saver.save(program.session.raw_session(), step);
    return "saved";
  }
  std::string in_use_by(const std::string& process) const {
    return "crochet: " + dir.path().string() + " is in use by " + process +
           "; end that program, or give this one another path";
  }
};

TEST_F(SaverLock, RefusesASecondProcessUntilTheFirstIsGone) {
  Process first{[&] { return train(); }};
  ASSERT_EQ(first.report(), "saved");
  Program<Count> program;
  Saver saver{dir.path(), options()};
  const auto expect_refused = [&](auto act) {
    try {
      act();
      ADD_FAILURE() << "two processes write to one folder";
    } catch (const FailedPreconditionError& error) {
      EXPECT_EQ(error.what(), in_use_by(first.name()));
    }
  };
  expect_refused([&] { saver.save(program.session.raw_session(), 7); });
  expect_refused([&] { saver.prepare(); });
  expect_refused([&] { saver.remove(dir / "model.ckpt-1"); });
  expect_refused([&] {
    AsyncSaver background{saver};
    background.save(program.session.raw_session(), 7);
    (void)background.result();
  });
  EXPECT_EQ(saver.last_checkpoints().size(), 2U);
  first.kill();
  EXPECT_EQ(saver.restore_latest(program.session.raw_session())->step, 2);
  saver.save(program.session.raw_session(), 3);
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-3") << "the folder is taken over from a killed process";
}

TEST_F(SaverLock, LeavesReadersAlone) {
  Process first{[&] { return train(); }};
  ASSERT_EQ(first.report(), "saved");
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-2");
  Program<Count> program;
  EXPECT_EQ(Saver(dir.path(), options()).restore_latest(program.session.raw_session())->step, 2);
  EXPECT_EQ(Saver(dir.path(), options()).must_restore(program.session.raw_session()).step, 2);
  said.clear();
  Directory::write(dir / "model.ckpt-2.index", "damaged");
  EXPECT_EQ(Saver(dir.path(), options()).restore_latest(program.session.raw_session())->step, 1);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0].find("it is passed over: " + in_use_by(first.name())), std::string::npos) << said[0];
  EXPECT_TRUE(std::filesystem::exists(dir / "model.ckpt-2.index")) << "another one's file is renamed";
}

TEST_F(SaverLock, ARestoredTrainingIsRefusedBeforeItsFirstStep) {
  Process first{[&] { return train(); }};
  Saver saver{dir.path(), options()};
  Machine machine;
  const auto begin = [&] {
    MonitoredSession session{machine.executor(), HookChain{Count{}, CheckpointSaver{saver, {.save_steps = 100}}},
                             restore_latest(saver)};
    session.close();
  };
  EXPECT_THROW(begin(), FailedPreconditionError);
  first.end();
  EXPECT_NO_THROW(begin());
}

TEST_F(SaverLock, AFolderThatCannotBeWrittenIsAnErrorBeforeTheFirstStep) {
  {
    Program<Count> program;
    Saver{dir.path(), options()}.save(program.session.raw_session(), 0);
  }
  std::filesystem::create_directory(dir / ".crochet-lock");  // a folder in place of the lock file
  Saver saver{dir.path(), options()};
  Machine machine;
  const auto begin = [&](OnSaveFailure on_failure) {
    MonitoredSession session{
        machine.executor(),
        HookChain{Count{}, CheckpointSaver{saver,
                                           {.save_steps = 100,
                                            .on_failure = on_failure,
                                            .sink = [&](std::string_view line) { said.emplace_back(line); }}}},
        restore_latest(saver)};
    said.emplace_back("begun");
    session.close();
  };
  said.clear();
  EXPECT_THROW(begin(OnSaveFailure::stop), IoError);
  ASSERT_EQ(said.size(), 1U) << "only what was restored";
  said.clear();
  begin(OnSaveFailure::warn);
  ASSERT_GE(said.size(), 3U);
  EXPECT_TRUE(said[1].starts_with("crochet: cannot write " + (dir / ".crochet-lock").string())) << said[1];
  EXPECT_EQ(said[2], "begun");
}

TEST_F(SaverLock, IsSharedByTheSaversOfOneProcess) {
  Program<Count> program;
  program.session.run();
  Saver saver{dir.path(), options()};
  saver.save(program.session.raw_session(), 1);
  std::filesystem::create_directory_symlink(dir.path(), dir.path().string() + "-link");
  {
    Saver best{dir.path().string() + "-link", {.basename = "best", .latest_filename = "best", .files = &quick}};
    best.save(program.session.raw_session(), 1);
  }
  const Process other{[&] {
    Saver late{dir.path(), options()};
    late.prepare();
    return std::string("taken");
  }};
  EXPECT_EQ(other.report(), in_use_by("process " + std::to_string(::getpid()))) << "one of the two savers is left";
  std::filesystem::remove(dir.path().string() + "-link");
}

TEST_F(SaverLock, IsKeptOverARecovery) {
  Saver saver{dir.path(), options()};
  Machine machine;
  MonitoredSession session{machine.executor(),
                           HookChain{Count{}, CheckpointSaver{saver, {.save_steps = 1}}, LosesTheMachine{}},
                           restore_latest(saver),
                           {.recovery = {.initial_backoff_secs = 0}}};
  for (int i = 0; i < 3; ++i) session.run();
  const Process other{[&] {
    Saver late{dir.path(), options()};
    late.prepare();
    return std::string("taken");
  }};
  EXPECT_EQ(other.report(), in_use_by("process " + std::to_string(::getpid())));
  session.close();
}

}  // namespace saver_lock_test
}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Saver: save, list, retention, search, and rejected checkpoints.
#include <crochet/checkpoint/saver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/current_folder.hpp"
#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace saver_test {

using Names = std::set<std::string>;
using Paths = std::vector<std::filesystem::path>;

class Savers : public ::testing::Test {
 protected:
  Directory dir;
  double now = 1e9;
  std::vector<std::string> said;

  SaverOptions options(int max_to_keep = 5) {
    SaverOptions o;
    o.max_to_keep = max_to_keep;
    o.clock = [this] { return now; };
    o.say = [this](std::string_view line) { said.emplace_back(line); };
    return o;
  }
  Paths prefixes(std::initializer_list<int> steps) const {
    Paths all;
    for (const int step : steps) all.push_back(dir / ("model.ckpt-" + std::to_string(step)));
    return all;
  }
  bool there(int step) const { return io::checkpoint_exists<io::TensorBundle>(prefixes({step})[0]); }
};

TEST_F(Savers, GiveBackVariablesStepAndHooks) {
  Program<Count> first;
  for (int i = 0; i < 3; ++i) first.session.run();
  Count& count = first.chain.get<Count>();
  count.said = "line\nbreak";
  count.texts = {"", std::string("a\0b", 3)};
  count.flags = {1, 0};
  Saver saver{dir.path(), options()};
  EXPECT_EQ(saver.save(first.session.raw_session(), 3), dir / "model.ckpt-3");

  Program<Count> second;
  const Restored restored = saver.restore(second.session.raw_session(), dir / "model.ckpt-3");
  EXPECT_EQ(restored.text(), (dir / "model.ckpt-3").string() + ", step 3; hooks: 1 loaded");
  EXPECT_EQ(second.machine.w, first.machine.w);
  EXPECT_EQ(second.machine.n, 9);
  EXPECT_TRUE(second.machine.odd);
  EXPECT_EQ(second.session.step(), 3);
  EXPECT_EQ(second.chain.get<Count>().runs, 3);
  EXPECT_EQ(second.chain.get<Count>().said, count.said);
  EXPECT_EQ(second.chain.get<Count>().texts, count.texts);
  EXPECT_EQ(second.chain.get<Count>().flags, count.flags);
}

TEST_F(Savers, TakeASessionWithHooks) {
  Program<> first;
  first.machine.w = {4, 2.5, -3};
  Saver saver{dir.path(), options()};
  EXPECT_EQ(saver.save(first.session, 3), dir / "model.ckpt-3");
  AsyncSaver{saver}.save(first.session, 4);

  Program<> second;
  EXPECT_EQ(saver.must_restore(second.session).step, 4);
  EXPECT_EQ(second.machine.w, first.machine.w);
  Program<> third;
  saver.restore_variables(third.session, dir / "model.ckpt-3");
  EXPECT_EQ(third.machine.w, first.machine.w);
}

TEST_F(Savers, SaveUnderTheStepOfTheSession) {
  Program<> first;
  for (int i = 0; i < 3; ++i) first.session.run();
  Saver saver{dir.path(), options()};
  EXPECT_EQ(saver.save(first.session), dir / "model.ckpt-3");
  first.session.run();
  EXPECT_EQ(saver.save(first.session.raw_session()), dir / "model.ckpt-4");

  Program<> second;
  EXPECT_EQ(saver.must_restore(second.session).step, 4);
  EXPECT_EQ(second.machine.w, first.machine.w);
}

TEST_F(Savers, SweepDownToTheLimitAndListWhatIsThere) {
  Program<> program;
  Saver many{dir.path(), options(0)};
  for (int step : {1, 2, 3, 4}) many.save(program.session.raw_session(), step);
  EXPECT_EQ(many.last_checkpoints(), prefixes({1, 2, 3, 4})) << "without a limit all are listed";
  Saver few{dir.path(), options(2)};
  EXPECT_EQ(few.last_checkpoints(), prefixes({1, 2, 3, 4})) << "the list outlives the program";
  few.save(program.session.raw_session(), 5);
  EXPECT_EQ(few.last_checkpoints(), prefixes({4, 5}));
  EXPECT_FALSE(there(1) || there(2) || there(3));
  EXPECT_EQ(dir.names(), (Names{"checkpoint", "model.ckpt-4.index", "model.ckpt-4.data-00000-of-00001",
                                "model.ckpt-5.index", "model.ckpt-5.data-00000-of-00001"}));
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-5");
}

TEST_F(Savers, MoveACheckpointThatIsSavedAgainToTheEnd) {
  Program<> program;
  Saver saver{dir.path(), options(2)};
  for (int step : {1, 2, 1}) saver.save(program.session.raw_session(), step);
  EXPECT_EQ(saver.last_checkpoints(), prefixes({2, 1}));
  saver.save(program.session.raw_session(), 3);
  EXPECT_EQ(saver.last_checkpoints(), prefixes({1, 3}));
  EXPECT_TRUE(there(1));
  EXPECT_FALSE(there(2));
}

TEST_F(Savers, KeepOneEverySoManyHoursAlsoAfterARestart) {
  SaverOptions o = options(1);
  o.keep_checkpoint_every_n_hours = 1;
  Program<> program;
  std::optional<Saver<>> saver(std::in_place, dir.path(), o);
  for (int step = 1; step <= 10; ++step) {
    now += 1200;  // 20 minutes
    if (step == 5) saver.emplace(dir.path(), o);
    saver->save(program.session.raw_session(), step);
  }
  for (int step = 1; step <= 10; ++step) EXPECT_EQ(there(step), step % 3 == 0 || step == 10) << step;
  EXPECT_EQ(saver->last_checkpoints(), prefixes({10})) << "what is kept for good is not listed";
}

TEST_F(Savers, SurviveAClockThatGoesBack) {
  Program<> program;
  SaverOptions o = options(2);
  o.keep_checkpoint_every_n_hours = 1;
  Saver saver{dir.path(), o};
  for (int step : {1, 2, 3, 4}) {
    now -= 1e6;
    saver.save(program.session.raw_session(), step);
  }
  EXPECT_EQ(saver.last_checkpoints(), prefixes({3, 4}));
}

TEST_F(Savers, KeepOneEverySoManyHoursAfterAClockThatWasAhead) {
  SaverOptions o = options(1);
  o.keep_checkpoint_every_n_hours = 1;
  Program<> program;
  Saver saver{dir.path(), o};
  const double start = now;
  now = start + 1e8;
  saver.save(program.session.raw_session(), 1);
  for (int step = 2; step <= 10; ++step) {
    now = start + 1200.0 * step;
    saver.save(program.session.raw_session(), step);
  }
  int kept = 0;
  for (int step = 2; step <= 9; ++step) kept += there(step) ? 1 : 0;
  EXPECT_GE(kept, 2) << "in two hours and forty minutes";
}

TEST_F(Savers, ReadTheListOfAnotherSaverEachTime) {
  Program<> program;
  const Saver reader{dir.path(), options()};
  EXPECT_EQ(reader.latest_checkpoint(), std::nullopt);
  Saver writer{dir.path(), options(1)};
  writer.save(program.session.raw_session(), 1);
  EXPECT_EQ(reader.latest_checkpoint(), dir / "model.ckpt-1");
  writer.save(program.session.raw_session(), 2);
  EXPECT_EQ(reader.latest_checkpoint(), dir / "model.ckpt-2");
  EXPECT_EQ(reader.last_checkpoints(), prefixes({2}));
}

TEST_F(Savers, FindStepsOfAnyLength) {
  Program<> program;
  constexpr std::int64_t nanoseconds = 1'790'000'000'123'456'789;
  for (const std::int64_t step : {nanoseconds, INT64_MAX}) {
    Saver{dir.path(), options()}.save(program.session.raw_session(), step);
    std::filesystem::remove(dir / "checkpoint");
    EXPECT_EQ((Saver{dir.path(), options()}.latest_checkpoint()), dir / ("model.ckpt-" + std::to_string(step)));
  }
  EXPECT_EQ(detail::step_of("model.ckpt-9223372036854775808", "model.ckpt"), -1);
  EXPECT_EQ(detail::step_of("model.ckpt--1", "model.ckpt"), -1);
  EXPECT_EQ(detail::step_of("model.ckpt-1x", "model.ckpt"), -1);
  EXPECT_EQ(detail::step_of("model.ckpt-", "model.ckpt"), -1);
}

TEST_F(Savers, WriteAStateFileThatCanBeMoved) {
  Program<> program;
  Saver saver{dir.path(), options()};
  now = 1700000000.5;
  saver.save(program.session.raw_session(), 1);
  saver.save(program.session.raw_session(), 20);
  EXPECT_EQ(Directory::text_of(dir / "checkpoint"), R"(model_checkpoint_path: "model.ckpt-20"
all_model_checkpoint_paths: "model.ckpt-1"
all_model_checkpoint_paths: "model.ckpt-20"
all_model_checkpoint_timestamps: 1700000000.5
all_model_checkpoint_timestamps: 1700000000.5
last_preserved_timestamp: 1000000000
)");
  const Directory elsewhere;
  std::filesystem::rename(dir.path(), elsewhere.path());
  EXPECT_EQ(latest_checkpoint(elsewhere.path()), elsewhere / "model.ckpt-20");
  Program<> again;
  EXPECT_EQ(Saver(elsewhere.path(), options()).restore_latest(again.session.raw_session())->step, 20);
}

TEST_F(Savers, ReadTheOriginalsStateFiles) {
  std::filesystem::create_directories(dir.path());
  EXPECT_EQ(latest_checkpoint(dir.path()), std::nullopt);
  Directory::write(dir / "checkpoint",
                   "model_checkpoint_path: \"model.ckpt-20\"\n"
                   "all_model_checkpoint_paths: \"/other/model.ckpt-10\"\n");
  EXPECT_EQ(latest_checkpoint(dir.path()), std::nullopt) << "the files are not there";
  Directory::write(dir / "model.ckpt-20.index", "");
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-20");
  EXPECT_EQ((Saver{dir.path(), options()}.last_checkpoints()), prefixes({10, 20})) << "the one of /other, as a name";
  Directory::write(dir / "checkpoint", "all_model_checkpoint_paths: \"model.ckpt-10\"\n");
  EXPECT_THROW((void)latest_checkpoint(dir.path()), DataLossError) << "none is current";
  Directory::write(dir / "checkpoint", "no text proto");
  EXPECT_THROW((void)latest_checkpoint(dir.path()), DataLossError);
}

TEST_F(Savers, KnowACheckpointByAnyPathOfTheList) {
  Program<> program;
  Saver{dir.path(), options(1)}.save(program.session.raw_session(), 20);
  // TensorFlow lists absolute paths, spelled as in its program.
  const std::filesystem::path spelled = dir.path() / ".." / dir.path().filename() / "model.ckpt-20";
  Directory::write(dir / "checkpoint", "model_checkpoint_path: \"" + spelled.string() + "\"\n");
  Saver late{dir.path(), options(1)};
  EXPECT_EQ(late.last_checkpoints(), prefixes({20}));
  late.save(program.session.raw_session(), 20);
  EXPECT_TRUE(there(20)) << "the older one of the two names was taken for a checkpoint of its own, and removed";
  EXPECT_EQ(late.latest_checkpoint(), prefixes({20})[0]);
}

TEST_F(Savers, TakeNothingOfACheckpointThatIsDamaged) {
  Program<Count> program;
  for (int i = 0; i < 3; ++i) program.session.run();
  Saver{dir.path(), options()}.save(program.session.raw_session(), 3);
  const std::string data = (dir / "model.ckpt-3").string() + ".data-00000-of-00001";
  std::string bytes = Directory::text_of(data);
  bytes[9] = static_cast<char>(bytes[9] ^ 1);
  Directory::write(data, bytes);
  Program<Count> again;
  EXPECT_EQ(Saver(dir.path(), options()).restore_latest(again.session.raw_session()), std::nullopt);
  EXPECT_EQ(again.machine.w, Machine{}.w) << "a step function cannot be initialized anew";
  EXPECT_EQ(again.machine.n, 0);
  EXPECT_FALSE(again.machine.odd);
}

TEST_F(Savers, FindWhatTheCurrentDirectoryHas) {
  std::filesystem::create_directories(dir.path());
  const test::CurrentFolder here{dir.path()};
  Program<> program;
  Saver{".", options()}.save(program.session.raw_session(), 7);
  std::filesystem::remove("checkpoint");
  Directory::write("model.ckpt-8.data-00000-of-00001.tmp", "interrupted");
  Saver late{".", options()};
  EXPECT_EQ(late.last_checkpoints(), (Paths{"./model.ckpt-7"}));
  late.save(program.session.raw_session(), 9);
  EXPECT_FALSE(std::filesystem::exists("model.ckpt-8.data-00000-of-00001.tmp"));
}

/// Records which folders were synced.
struct NotingFiles final : io::FileSystem {
  std::unique_ptr<io::OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    return quick.create(path, error);
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return quick.rename(from, to);
  }
  std::error_code remove(const std::filesystem::path& path) override { return quick.remove(path); }
  std::error_code sync_folder(const std::filesystem::path& folder) override {
    synced.push_back(folder);
    return {};
  }
  test::LocalFilesWithoutSync quick;
  Paths synced;
};

TEST_F(Savers, BringNewDirectoriesToTheDisk) {
  NotingFiles files;
  SaverOptions o = options();
  o.files = &files;
  std::filesystem::create_directories(dir.path());
  Program<> program;
  Saver saver{dir / "a/b", o};
  saver.save(program.session.raw_session(), 1);
  ASSERT_GE(files.synced.size(), 2U);
  EXPECT_EQ((Paths{files.synced[0], files.synced[1]}), (Paths{dir.path(), dir / "a"}))
      << "or a checkpoint is on a disk where nothing leads to it";
  files.synced.clear();
  saver.save(program.session.raw_session(), 2);
  EXPECT_EQ(std::count(files.synced.begin(), files.synced.end(), dir / "a"), 0) << "they are not new any more";
}

TEST_F(Savers, RecoverAListAndSkipWhatHasVanished) {
  Program<> program;
  Saver saver{dir.path(), options()};
  for (int step : {1, 2, 3}) saver.save(program.session.raw_session(), step);
  for (const auto& file : io::TensorBundle::files(prefixes({2})[0])) std::filesystem::remove(file);
  Saver other{dir.path(), options()};
  other.recover_last_checkpoints(prefixes({1, 2, 3}));
  EXPECT_EQ(other.last_checkpoints(), prefixes({1, 3}));
}

TEST_F(Savers, KeepAListThatTheyWereGiven) {
  Program<> program;
  for (int step : {10, 20, 30}) Saver{dir.path(), options()}.save(program.session, step);
  Saver given{dir.path(), options()};
  given.recover_last_checkpoints(prefixes({10, 20}));
  EXPECT_EQ(given.must_restore(program.session.raw_session()).step, 20);
  EXPECT_EQ(given.restore_latest(program.session.raw_session())->step, 20);
  EXPECT_EQ(given.last_checkpoints(), prefixes({10, 20}));
}

TEST_F(Savers, OfOneProcessKeepOneList) {
  Program<> program;
  Saver first{dir.path(), options(3)}, second{dir.path(), options(3)};
  first.save(program.session, 10);
  EXPECT_EQ(second.restore_latest(program.session.raw_session())->step, 10);
  first.save(program.session, 20);
  EXPECT_EQ(second.restore_latest(program.session.raw_session())->step, 20);
  second.save(program.session, 30);
  first.save(program.session, 40);
  EXPECT_EQ(first.last_checkpoints(), prefixes({20, 30, 40}));
  EXPECT_FALSE(there(10)) << "swept, though the last save was another Saver's";
  first.make_latest(prefixes({30})[0]);
  second.remove(prefixes({40})[0]);
  EXPECT_EQ(Saver(dir.path(), options()).last_checkpoints(), prefixes({20, 30}));
  Saver{dir.path(), options(3)}.save(program.session, 45);  // of a Saver that is gone
  first.save(program.session, 50);
  EXPECT_EQ(first.last_checkpoints(), prefixes({30, 45, 50}));
  EXPECT_EQ(Saver(dir.path(), options()).last_checkpoints(), prefixes({30, 45, 50}));
}

TEST_F(Savers, OfOtherNamesAndFormatsInAFolderKeepTheirOwn) {
  Program<> program;
  Saver newest{dir.path(), options(2)};
  SaverOptions named = options(0);
  named.basename = "best";
  Saver best{dir.path(), named};
  Saver<io::Safetensors> other{dir.path(), options(2)};
  newest.save(program.session, 1);
  best.save(program.session, 2);
  for (int step : {3, 4, 5}) {
    newest.save(program.session, step);
    other.save(program.session, step);
  }
  EXPECT_EQ(newest.last_checkpoints(), prefixes({4, 5}));
  EXPECT_EQ(other.last_checkpoints(), prefixes({4, 5}));
  EXPECT_FALSE(io::checkpoint_exists<io::Safetensors>(prefixes({3})[0]));
  EXPECT_TRUE(best.has(dir / "best-2"));
}

/// Files on disk; calls `act` once behind the renaming, or before the opening, of a file whose name has `part`.
struct InterruptedFiles final : test::LocalFilesWithoutSync {
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const std::error_code error = LocalFilesWithoutSync::rename(from, to);
    interrupt(to);
    return error;
  }
  std::unique_ptr<io::RandomAccessFile> open(const std::filesystem::path& path, std::error_code& error) override {
    interrupt(path);
    return LocalFilesWithoutSync::open(path, error);
  }
  void interrupt(const std::filesystem::path& path) {
    if (act && path.filename().string().find(part) != std::string::npos) std::exchange(act, nullptr)();
  }
  std::string part;
  std::function<void()> act;
};

TEST_F(Savers, OfOneProcessRemoveNothingThatAnotherIsWriting) {
  Program<> program;
  InterruptedFiles files;
  SaverOptions interrupted = options();
  interrupted.files = &files;
  Saver first{dir.path(), interrupted}, second{dir.path(), options()};
  files.part = ".data-";
  files.act = [&] { second.save(program.session, 7); };  // as an AsyncSaver, or a session on another thread
  first.save(program.session, 8);
  EXPECT_EQ(first.last_checkpoints(), prefixes({7, 8}));
  EXPECT_EQ(second.must_restore(program.session.raw_session()).step, 8);
}

TEST_F(Savers, ReadACheckpointAgainThatIsReplacedMeanwhile) {
  Program<> trained, program;
  Saver owner{dir.path(), options(1)};
  InterruptedFiles files;
  SaverOptions reading = options(1);
  reading.files = &files;
  Saver reader{dir.path(), reading};
  for (const std::string part : {".index", ".data-"}) {
    for (const int step : {10, 20}) {
      owner.save(trained.session, 10);
      trained.session.run();
      files.part = part;
      files.act = [&] { owner.save(trained.session, step); };
      said.clear();
      EXPECT_EQ(reader.must_restore(program.session.raw_session()).step, step) << part;
      EXPECT_EQ(program.machine.n, trained.machine.n);
      EXPECT_FALSE(files.act);
      EXPECT_EQ(said.size(), 1U) << "nothing is damaged";
    }
  }
  owner.save(trained.session, 10);
  trained.session.run();
  files.act = [&] { owner.save(trained.session, 10); };
  EXPECT_EQ(reader.restore_latest(program.session.raw_session())->step, 10) << "it is not set aside";
  EXPECT_EQ(program.machine.n, trained.machine.n);
}

TEST_F(Savers, RefuseAFolderThatHasBecomeAnotherOne) {
  const Directory there;
  std::filesystem::create_directories(dir / "run");
  std::filesystem::create_directories(there / "run");
  Program<> program;
  Saver saver{"run", options()};
  {
    const test::CurrentFolder current{dir.path()};
    saver.save(program.session, 1);
  }
  const test::CurrentFolder current{there.path()};
  EXPECT_THROW(saver.save(program.session, 2), FailedPreconditionError);
  EXPECT_THROW(saver.restore_latest(program.session.raw_session()), FailedPreconditionError);
  EXPECT_TRUE(std::filesystem::is_empty(there / "run"));
}

TEST_F(Savers, KeepTheGraphsOfTensorFlow) {
  std::filesystem::create_directories(dir.path());
  for (const char* name : {"model.ckpt-7.meta", "model.ckpt-8.data-00000-of-00001"}) std::ofstream(dir / name) << "x";
  Program<> program;
  Saver{dir.path(), options()}.save(program.session, 9);
  EXPECT_TRUE(std::filesystem::exists(dir / "model.ckpt-7.meta"));
  EXPECT_FALSE(std::filesystem::exists(dir / "model.ckpt-8.data-00000-of-00001")) << "left by an interrupted save";
}

TEST_F(Savers, ReadTheListAgainWhenTheyBecomeTheOwner) {
  Program<> program;
  Saver later{dir.path(), options()};
  EXPECT_EQ(later.latest_checkpoint(), std::nullopt);
  {
    Saver owner{dir.path(), options()};
    for (int step : {1, 2, 3}) owner.save(program.session.raw_session(), step);
  }
  later.save(program.session.raw_session(), 4);
  EXPECT_EQ(later.last_checkpoints(), prefixes({1, 2, 3, 4}));
}

TEST_F(Savers, SetDamagedCheckpointsAsideAndUseTheOneBefore) {
  Program<Count> program;
  Saver saver{dir.path(), options()};
  for (int step = 1; step <= 5; ++step) {
    program.session.run();
    saver.save(program.session.raw_session(), step);
  }
  const auto data = [&](int step) { return prefixes({step})[0].string() + ".data-00000-of-00001"; };
  std::string bytes = Directory::text_of(data(5));
  bytes[9] = static_cast<char>(bytes[9] ^ 1);
  Directory::write(data(5), bytes);
  Directory::write(dir / "model.ckpt-4.index", Directory::text_of(dir / "model.ckpt-4.index").substr(0, 100));
  std::filesystem::remove(data(3));

  Program<Count> again;
  Saver late{dir.path(), options()};
  const auto restored = late.restore_latest(again.session.raw_session());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->step, 2);
  EXPECT_EQ(again.chain.get<Count>().runs, 2);
  ASSERT_EQ(said.size(), 4U);
  EXPECT_NE(said[0].find("is damaged"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("it is set aside as " + prefixes({5})[0].string() + "*.damaged"), std::string::npos)
      << said[0];
  EXPECT_NE(said[2].find("data-00000-of-00001 is missing"), std::string::npos) << said[2];
  EXPECT_EQ(said[3], "crochet: restored " + prefixes({2})[0].string() + ", step 2; hooks: 1 loaded");
  EXPECT_TRUE(std::filesystem::exists(data(5) + ".damaged"));
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-2") << "the state file follows";
  EXPECT_EQ(late.last_checkpoints(), prefixes({1, 2}));
}

TEST_F(Savers, ListNothingThatTheySetAside) {
  Program<> program;
  {
    Saver saver{dir.path(), options()};
    saver.save(program.session.raw_session(), 5);
  }
  std::filesystem::resize_file(io::TensorBundle::files(prefixes({5})[0])[0], 3);
  Saver saver{dir.path(), options()};
  EXPECT_FALSE(saver.restore_latest(program.session.raw_session()));
  saver.save(program.session.raw_session(), 1);
  EXPECT_EQ(saver.last_checkpoints(), prefixes({1}));
}

TEST_F(Savers, UseTheOneBeforeADamagedOneAlsoWhereNothingMayBeWritten) {
  Program<> program;
  Saver saver{dir.path(), options()};
  for (int step : {1, 2}) {
    program.session.run();
    saver.save(program.session.raw_session(), step);
  }
  Directory::write(dir / "model.ckpt-2.index", "damaged");
  test::FaultyFiles read_only{0, std::make_error_code(std::errc::read_only_file_system)};
  SaverOptions o = options();
  o.files = &read_only;
  Program<> again;
  const auto restored = Saver(dir.path(), o).restore_latest(again.session.raw_session());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->step, 1);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_NE(said[1].find("Read-only file system; it is passed over"), std::string::npos) << said[1];
}

TEST_F(Savers, FindCheckpointsWithoutAStateFile) {
  Program<> program;
  Saver saver{dir.path(), options()};
  for (int step : {9, 10, 100}) {
    program.session.run();
    saver.save(program.session.raw_session(), step);
  }
  Directory::write(dir / "checkpoint", "garbage {");
  Saver late{dir.path(), options()};
  EXPECT_EQ(late.last_checkpoints(), prefixes({9, 10, 100})) << "by step, not by letters";
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("checkpoint is damaged: line 1"), std::string::npos) << said[0];
  std::filesystem::remove(dir / "checkpoint");
  Program<> again;
  EXPECT_EQ(Saver(dir.path(), options()).restore_latest(again.session.raw_session())->prefix, dir / "model.ckpt-100");
}

TEST_F(Savers, RemoveNothingThatTheListMayHaveKeptForGood) {
  Program<> program;
  SaverOptions hourly = options(2);
  hourly.keep_checkpoint_every_n_hours = 1;
  {
    Saver saver{dir.path(), hourly};
    for (int step : {1, 2, 3, 4}) {
      now += 3600;
      saver.save(program.session.raw_session(), step);
    }
    EXPECT_TRUE(there(1) && there(2)) << "one an hour";
  }
  Directory::write(dir / "checkpoint", "");  // the list is lost
  Saver late{dir.path(), hourly};
  EXPECT_EQ(late.last_checkpoints(), prefixes({3, 4}));
  late.save(program.session.raw_session(), 5);
  EXPECT_TRUE(there(1) && there(2)) << "nothing says that they may go";
  EXPECT_FALSE(there(3));
  EXPECT_EQ(late.last_checkpoints(), prefixes({4, 5}));
}

TEST_F(Savers, RefuseACheckpointOfAnotherModelAndLeaveEverythingAsItWas) {
  Program<Count> program;
  program.session.run();
  Saver saver{dir.path(), options()};
  saver.save(program.session.raw_session(), 1);

  std::vector<double> w{7, 8, 9, 10}, extra{5};
  std::int64_t n = 3;
  StepExecutor other{[](auto&) {}, variable<"w">(w), variable<"n">(n), variable<"extra">(extra)};
  MonitoredSession session{other};
  try {
    saver.restore_latest(session.raw_session());
    ADD_FAILURE() << "it was restored";
  } catch (const CheckpointMismatchError& error) {
    EXPECT_EQ(std::string(error.what()),
              "crochet: " + prefixes({1})[0].string() +
                  " is not a checkpoint of this model: w is float64 [3] in it and float64 "
                  "[4] here; n is int32 [] in it and int64 [] here; extra float64 [1] is not in it"
                  "; use the model that was saved there, or another folder");
  }
  EXPECT_EQ(w, (std::vector<double>{7, 8, 9, 10}));
  EXPECT_TRUE(there(1)) << "it is not damaged";
  session.close();
}

/// The message of a restore into `executor` of the checkpoint of step 1.
std::string mismatch(Saver<>& saver, auto& executor) {
  MonitoredSession session{executor};
  std::string text;
  try {
    saver.restore_latest(session.raw_session());
  } catch (const CheckpointMismatchError& error) {
    text = error.what();
  }
  session.close();
  return text.substr(std::min(text.size(), text.find("model: ")));
}

TEST_F(Savers, TellHowToBeginATrainingWithWeightsAlone) {
  Program<> weights;  // of the variables n, odd and w
  Saver saver{dir.path(), options()};
  saver.save(weights.session.raw_session(), 1);
  std::vector<double> w(3), m(3), v(3);
  double power = 1;
  StepExecutor training{[](auto&) {}, variable<"w">(w), variable<"w/Adam">(m), variable<"w/Adam_1">(v),
                        variable<"train/beta1_power">(power)};
  EXPECT_EQ(
      mismatch(saver, training),
      "model: w/Adam float64 [3] is not in it; w/Adam_1 float64 [3] is not in it; train/beta1_power float64 [] is "
      "not in it; it has the weights, but not the variables of the optimizer: to begin a training with them, pass "
      "an InitFromCheckpoint to Scaffold::with_init_fn");
}

TEST_F(Savers, AskForTheSavedModelWhereMoreThanAnOptimizerIsMissing) {
  Program<> weights;
  Saver saver{dir.path(), options()};
  saver.save(weights.session.raw_session(), 1);
  std::vector<double> w(3), slot(3);
  double power = 1;
  const auto asks = [&](auto executor) {
    return mismatch(saver, executor).ends_with("; use the model that was saved there, or another folder");
  };
  const auto nothing = [](auto&) {};
  EXPECT_TRUE(asks(StepExecutor{nothing, variable<"w">(w), variable<"w/Adam">(slot), variable<"u">(w)}));
  EXPECT_TRUE(asks(StepExecutor{nothing, variable<"u">(w), variable<"u/Adam">(slot)}));
  EXPECT_TRUE(asks(StepExecutor{nothing, variable<"w">(w), variable<"power">(power)})) << "a scalar alone";
  std::vector<double> longer(4);
  EXPECT_TRUE(asks(StepExecutor{nothing, variable<"w">(longer), variable<"w/Adam">(slot)}));
}

TEST_F(Savers, SayWhatTheModelHasNoUseFor) {
  Program<Count> program;
  Saver saver{dir.path(), options()};
  saver.save(program.session.raw_session(), 1);
  std::int32_t n = 3;
  StepExecutor smaller{[](auto&) {}, variable<"n">(n)};
  MonitoredSession session{smaller};
  const Restored restored = saver.restore(session.raw_session(), dir / "model.ckpt-1");
  EXPECT_EQ(restored.ignored, (std::vector<std::string>{"odd", "w"}));
  EXPECT_EQ(restored.hooks.removed, (std::vector<std::string>{"Count"}));
  session.close();
}

TEST_F(Savers, FailWithFileAndCauseAndLeaveTheOlderOnes) {
  Program<> program;
  Saver saver{dir.path(), options(1)};
  saver.save(program.session.raw_session(), 1);
  std::filesystem::create_directory(dir / "model.ckpt-2.index.tmp");  // a folder in place of the temporary file
  EXPECT_THROW(saver.save(program.session.raw_session(), 2), IoError);
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-1");
  Program<> again;
  EXPECT_TRUE(Saver(dir.path(), options()).restore_latest(again.session.raw_session()));
  Directory::write(dir.path().string() + "-file", "");
  Saver nowhere{dir.path().string() + "-file", options()};
  EXPECT_THROW(nowhere.save(program.session.raw_session(), 1), IoError);
  std::filesystem::remove(dir.path().string() + "-file");
}

TEST_F(Savers, TakeAnyNameThatAFileMayHave) {
  SaverOptions o = options();
  for (const std::string name :
       {"a b", "\"q\"", "back\\slash", "line\nbreak", "\xc3\xb6", "\xff\x01", "%d", ".", "7-7"}) {
    o.basename = name;
    Program<> program;
    Saver{dir.path(), o}.save(program.session.raw_session(), 3);
    const Saver late{dir.path(), o};
    ASSERT_EQ(late.last_checkpoints().back(), dir.path() / (name + "-3"));
    ASSERT_EQ(late.latest_checkpoint(), dir.path() / (name + "-3"));
    std::filesystem::remove(dir / "checkpoint");
    ASSERT_EQ((Saver{dir.path(), o}.last_checkpoints()), (Paths{dir.path() / (name + "-3")})) << "by a search";
  }
  o.basename = "a/b";
  EXPECT_THROW((Saver{dir.path(), o}), LogicError) << "a search would not find it";
}

TEST_F(Savers, CanBeUsedAfterAMove) {
  Saver saver{dir.path(), options()};
  const Saver<> other = std::move(saver);           // NOLINT(performance-move-const-arg): a copy is what is tested
  EXPECT_EQ(saver.directory(), other.directory());  // NOLINT(bugprone-use-after-move)
}

TEST_F(Savers, ReadOptionsThatCannotBe) {
  EXPECT_THROW((Saver{dir.path(), options(-1)}), LogicError);
  try {
    Saver nowhere{"", options()};
    ADD_FAILURE() << "an empty path is a mistake, not the current directory";
  } catch (const LogicError& error) {
    EXPECT_NE(std::string(error.what()).find("\".\" is the current directory"), std::string::npos) << error.what();
  }
  SaverOptions o = options();
  for (const double hours : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    o.keep_checkpoint_every_n_hours = hours;
    EXPECT_THROW((Saver{dir.path(), o}), LogicError);
  }
  o = options();
  o.latest_filename = "a/b";
  EXPECT_THROW((Saver{dir.path(), o}), LogicError);
  o = options();
  o.pad_step_number = true;
  EXPECT_EQ((Saver{dir.path(), o}.prefix_of(42)), dir / "model.ckpt-00000042");
}

/// A state file that lists a checkpoint in another folder.
TEST_F(Savers, UseOnlyFilesOfTheirOwnFolder) {
  const Directory other;
  Program<> program;
  for (int step : {1, 2, 3}) {
    program.session.run();
    Saver{other.path(), options()}.save(program.session.raw_session(), step);
  }
  const std::set<std::string> untouched = other.names();
  Directory::write(other / "model.ckpt-3.index", "damaged");
  std::filesystem::create_directories(dir.path());
  const std::string up = "../" + other.path().filename().string();
  for (const std::string& to : {other.path().string(), up}) {
    Directory::write(dir / "checkpoint", "model_checkpoint_path: \"" + to + "/model.ckpt-3\"\n" +
                                             "all_model_checkpoint_paths: \"" + to + "/model.ckpt-1\"\n" +
                                             "all_model_checkpoint_paths: \"" + to + "/model.ckpt-2\"\n");
    Program<> again;
    Saver saver{dir.path(), options(1)};
    EXPECT_EQ(saver.restore_latest(again.session.raw_session()), std::nullopt) << "restored from " << to;
    EXPECT_EQ(saver.latest_checkpoint(), std::nullopt);
    saver.save(again.session.raw_session(), 7);
    EXPECT_EQ(other.names(), untouched) << "renamed or removed in " << to;
    EXPECT_EQ(saver.last_checkpoints(), prefixes({7}));
    EXPECT_THROW(saver.remove(other / "model.ckpt-1"), LogicError);
    EXPECT_FALSE(saver.has(other / "model.ckpt-1"));
    saver.recover_last_checkpoints(Paths{other / "model.ckpt-1", dir / "model.ckpt-7"});
    EXPECT_EQ(saver.last_checkpoints(), prefixes({7}));
    std::filesystem::remove_all(dir.path());
    std::filesystem::create_directories(dir.path());
  }
  EXPECT_EQ(other.names(), untouched);
}

TEST_F(Savers, TakeNoFolderForTheirsByItsText) {
  Program<> program;
  Saver saver{dir / "here", options()};
  saver.save(program.session.raw_session(), 1);
  std::filesystem::create_directories(dir / "far/inner");
  std::filesystem::create_directories(dir / "far/here");
  std::filesystem::create_directory_symlink(dir / "far/inner", dir / "link");
  const std::filesystem::path other = dir / "link/../here/model.ckpt-1";  // in far/here
  EXPECT_FALSE(saver.has(other));
  EXPECT_THROW(saver.remove(other), LogicError);
  EXPECT_TRUE(saver.has(dir / "far/../here/model.ckpt-1"));
  EXPECT_TRUE(saver.has(dir / "here/model.ckpt-1"));
}

TEST_F(Savers, FindTheirFilesAgainInACopyWhoseListHasAbsolutePaths) {
  Program<> program;
  program.session.run();
  Saver{dir.path(), options()}.save(program.session.raw_session(), 1);
  Directory::write(dir / "checkpoint", "model_checkpoint_path: \"" + (dir / "model.ckpt-1").string() + "\"\n");
  const Directory copy;
  std::filesystem::copy(dir.path(), copy.path(), std::filesystem::copy_options::recursive);
  Program<> again;
  Saver late{copy.path(), options(1)};
  EXPECT_EQ(late.here(dir / "model.ckpt-1"), copy / "model.ckpt-1");
  EXPECT_EQ(late.restore_latest(again.session.raw_session())->prefix, copy / "model.ckpt-1");
  late.save(again.session.raw_session(), 2);
  EXPECT_TRUE(there(1)) << "the copy's saver removed the original's checkpoint";
  EXPECT_FALSE(std::filesystem::exists(copy / "model.ckpt-1.index"));
}

TEST_F(Savers, PassOverLinksThatLeadOutOfTheFolder) {
  const Directory other;
  Program<> program;
  for (int step : {1, 2}) {
    program.session.run();
    Saver{dir.path(), options()}.save(program.session.raw_session(), step);
  }
  std::filesystem::create_directories(other.path());
  const std::string data = "model.ckpt-2.data-00000-of-00001";
  std::filesystem::rename(dir / data, other / data);
  std::filesystem::create_symlink(other / data, dir / data);
  said.clear();
  Program<> again;
  EXPECT_EQ(Saver(dir.path(), options()).restore_latest(again.session.raw_session())->step, 1);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "crochet: " + (dir / data).string() + " is a link to a file outside " + dir.path().string() +
                         "; the checkpoint is passed over");
  EXPECT_TRUE(std::filesystem::exists(other / data)) << "and nothing there is renamed";
  // Links within the folder, and a link to the folder, are followed.
  std::filesystem::rename(other / data, dir / "data");
  std::filesystem::remove(dir / data);
  std::filesystem::create_symlink("data", dir / data);
  const std::filesystem::path link = other / "run";
  std::filesystem::create_directory_symlink(dir.path(), link);
  EXPECT_EQ(Saver(link, options()).restore_latest(again.session.raw_session())->step, 2);
}

TEST_F(Savers, WriteThroughNoLinkThatLiesInTheFolder) {
  const Directory other;
  std::filesystem::create_directories(other.path());
  std::filesystem::create_directories(dir.path());
  Directory::write(other / "precious", "precious");
  for (const char* name : {"checkpoint.tmp", "model.ckpt-1.index.tmp", "model.ckpt-1.data-00000-of-00001.tmp"}) {
    std::filesystem::create_symlink(other / "precious", dir / name);
  }
  Program<> program;
  Saver{dir.path(), options()}.save(program.session.raw_session(), 1);
  EXPECT_EQ(Directory::text_of(other / "precious"), "precious");
  Program<> again;
  EXPECT_TRUE(Saver(dir.path(), options()).restore_latest(again.session.raw_session()));
}

TEST_F(Savers, ReadALongListInOneLineOfReport) {
  constexpr int entries = 30'000;
  std::filesystem::create_directories(dir.path());
  Program<> program;
  Saver{dir.path(), options()}.save(program.session.raw_session(), 5);
  std::string list = "model_checkpoint_path: \"model.ckpt-" + std::to_string(entries) + "\"\n";
  for (int step = 1; step <= entries; ++step) {
    list += "all_model_checkpoint_paths: \"model.ckpt-" + std::to_string(step) + "\"\n";
  }
  Directory::write(dir / "checkpoint", list);
  said.clear();
  Program<> again;
  Saver saver{dir.path(), options(2)};
  EXPECT_EQ(saver.restore_latest(again.session.raw_session())->prefix, dir / "model.ckpt-5");
  ASSERT_EQ(said.size(), 2U) << "a line for each missing one";
  EXPECT_EQ(said[0], "crochet: " + (dir / "model.ckpt-30000").string() +
                         " and 29998 more of the 30000 listed "
                         "checkpoints are not there");
  saver.save(again.session.raw_session(), entries + 1);
  EXPECT_EQ(saver.last_checkpoints(), prefixes({5, entries + 1}));
}

TEST_F(Savers, ReportThatTheirFolderWasRemovedWhileInUse) {
  Program<> program;
  Saver saver{dir.path(), options()};
  for (int step : {1, 2}) saver.save(program.session.raw_session(), step);
  std::filesystem::remove_all(dir.path());
  saver.save(program.session.raw_session(), 3);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0], "crochet: " + dir.path().string() +
                         " was removed while it was in use, with 2 checkpoints; it is made anew");
  EXPECT_EQ(saver.last_checkpoints(), prefixes({3}));
}

TEST_F(Savers, NameALinkThatLeadsNowhere) {
  std::filesystem::create_directory_symlink(dir.path().string() + "-missing", dir.path());
  Program<> program;
  Saver saver{dir / "run", options()};
  try {
    saver.save(program.session.raw_session(), 1);
    ADD_FAILURE() << "saved";
  } catch (const IoError& error) {
    EXPECT_EQ(std::string(error.what()), "crochet: " + dir.path().string() + " is a link to " + dir.path().string() +
                                             "-missing, which does not exist; make it, or remove the link");
  }
  std::filesystem::remove(dir.path());
}

TEST_F(Savers, MakeASessionGoOnWhereTheLastOneWas) {
  Saver saver{dir.path(), options()};
  std::vector<double> whole;
  {
    Program<Count> program;
    for (int i = 0; i < 7; ++i) program.session.run();
    whole = program.machine.w;
  }
  for (const int steps : {4, 3}) {
    Machine machine;
    MonitoredSession session{machine.executor(), HookChain{Count{}}, restore_latest(saver)};
    for (int i = 0; i < steps; ++i) session.run();
    saver.save(session.raw_session(), session.step());
    session.close();
    if (steps == 3) {
      EXPECT_EQ(machine.w, whole);
      EXPECT_EQ(session.step(), 7);
      EXPECT_EQ(session.hooks().get<Count>().runs, 7);
    }
  }
}

}  // namespace saver_test
}  // namespace crochet

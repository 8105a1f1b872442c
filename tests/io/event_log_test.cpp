// SPDX-License-Identifier: Apache-2.0
// Records, event files, and the log that continues after errors of the disk. No threads; the clocks stand still.
#include <gtest/gtest.h>

#include "current_folder.hpp"
#include "event_memory.hpp"
#include "system_limit.hpp"
#include "temporary_folder.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <cerrno>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace {
int names_before_an_error = -1;  // of a folder; -1: no error
}
extern "C" dirent* readdir(DIR* folder) {
  static const auto next = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  if (names_before_an_error == 0) return errno = EIO, nullptr;
  if (names_before_an_error > 0) --names_before_an_error;
  return next(folder);
}

namespace {

namespace io = crochet::io;
namespace fs = std::filesystem;
using crochet::testing::EventDisk;
using crochet::testing::events_in;
using crochet::testing::ManualClock;
using crochet::testing::RecordingSink;
using crochet::testing::short_text;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

crochet::proto::Event scalar(double time, std::int64_t step, float value) {
  crochet::proto::Event event;
  event.set_wall_time(time);
  event.set_step(step);
  auto* v = event.mutable_summary()->add_value();
  v->set_tag("loss");
  v->set_simple_value(value);
  return event;
}

// ---- records

TEST(TfRecord, NextStopsWhereTheBytesEnd) {
  std::string file;
  io::append_tfrecord(file, "first");
  io::append_tfrecord(file, "");
  std::string_view rest = file;
  EXPECT_EQ(io::next_tfrecord(rest), "first");
  EXPECT_EQ(io::next_tfrecord(rest), "");
  EXPECT_EQ(io::next_tfrecord(rest), std::nullopt);
  EXPECT_TRUE(rest.empty());
  for (std::size_t n = 0; n < 16 + 5; ++n) {
    rest = std::string_view(file).substr(0, n);
    EXPECT_EQ(io::next_tfrecord(rest), std::nullopt) << n;
    EXPECT_EQ(rest.size(), n) << "a record that is not finished is left to be read later";
  }
}

TEST(TfRecord, EveryChangedByteIsSeen) {
  std::string file;
  io::append_tfrecord(file, "payload");
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    std::string_view rest = damaged;
    EXPECT_THROW(io::next_tfrecord(rest), crochet::DataLossError) << i;
  }
}

// ---- files

TEST(EventFile, IsTheWorkedExampleByteForByte) {
  EventDisk disk;
  ManualClock now(1700000000.25);
  io::EventFile file(crochet::testing::empty_folder(), {.wall_clock = now, .create = disk});
  EXPECT_EQ(short_text(events_in(disk.newest().bytes)), "version") << "on its way at once";
  file.append(scalar(1700000001.5, 1, 0.5F).SerializeAsString());
  file.write();
  EXPECT_EQ(disk.newest().bytes, from_hex("1800000000000000a37f4b22"
                                          "0900000040fc54d9411a0d627261696e2e4576656e743a32"
                                          "eced8f9d"
                                          "1a00000000000000129bd82d"
                                          "0900006040fc54d94110012a0d0a0b0a046c6f73731500"
                                          "00003f"
                                          "2ee42f0f"));
}

TEST(EventFile, NamesAreUniqueAndSort) {
  EventDisk disk;
  ManualClock now(99.9);
  std::vector<fs::path> paths;
  const fs::path folder = crochet::testing::empty_folder();
  for (int i = 0; i < 12; ++i) {
    if (i == 6) now.set(20);  // the clock was set back
    io::EventFile file(folder, {.suffix = ".s", .wall_clock = now});
    paths.push_back(file.path());
    EXPECT_TRUE(fs::exists(file.path()));
    const auto first = events_in(crochet::testing::bytes_of(file.path())).at(0);
    EXPECT_EQ(first.wall_time(), 99 + i) << "the name's time";
    EXPECT_EQ(first.file_version(), "brain.Event:2");
  }
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  EXPECT_EQ(paths[0].filename().string().substr(0, 33),
            "events.out.tfevents.0000000099." + io::detail::host_name().substr(0, 2));
  EXPECT_EQ(paths[0].extension(), ".s");
}

// Times that no clock shows. A later time would overflow, or have too many digits to sort after it.
TEST(EventFile, NamesWithImpossibleTimesDoNotCount) {
  for (const std::string time : {"9223372036854775807", "9223372036854775806", "99999999999", "9999999999",
                                 "-9223372036854775808", "123456789012345678901234567890"}) {
    const fs::path folder = crochet::testing::empty_folder();
    fs::create_directories(folder);
    std::ofstream(folder / ("events.out.tfevents." + time + ".x")) << "x";
    io::EventFile file(folder, {.wall_clock = ManualClock(50)});
    EXPECT_EQ(file.path().filename().string().substr(0, 30), "events.out.tfevents.0000000050") << time;
  }
}

TEST(EventFile, AFolderThatCannotBeReadCompletelyIsLikeOneThatCannotBeRead) {
  const fs::path folder = crochet::testing::empty_folder();
  fs::create_directories(folder);
  for (const char* name : {"a", "b", "c", "d"}) std::ofstream(folder / name) << "x";
  for (const int names : {0, 1, 3, 5}) {
    names_before_an_error = names;
    EXPECT_NO_THROW(io::EventFile(folder, {.wall_clock = ManualClock(50)})) << names;
    EXPECT_EQ(names_before_an_error, 0) << "there was no error";
    names_before_an_error = -1;
  }
}

TEST(EventFile, AFileThatExistsIsNeverWrittenTo) {
  EventDisk disk;
  ManualClock now(50);
  int refused = 0;
  const auto create = [&](const fs::path& path) { return ++refused < 4 ? nullptr : disk(path); };
  io::EventFile file(crochet::testing::empty_folder(), {.wall_clock = now, .create = create});
  EXPECT_EQ(file.path().filename().string().substr(0, 30), "events.out.tfevents.0000000053");
  EXPECT_EQ(events_in(disk.newest().bytes).at(0).wall_time(), 53);
}

TEST(EventFile, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
  const fs::path folder = crochet::testing::empty_folder();
  fs::create_directories(folder);
  std::ofstream(folder / "file") << "x";
  try {
    io::EventFile file(folder / "file" / "logs", {});
    FAIL();
  } catch (const crochet::IoError& error) {
    EXPECT_NE(std::string(error.what()).find((folder / "file" / "logs").string()), std::string::npos) << error.what();
  }
}

TEST(EventFileSink, LeavesNothingOfAWriteThatFails) {
  // A file of at most 100 bytes: the system cuts the second write short, as on a full disk.
  const fs::path folder = crochet::testing::empty_folder();
  fs::create_directories(folder);
  const fs::path path = folder / "events";
  const auto sink = io::EventFileSink::create(path);
  sink->write(std::string(60, 'a'));
  {
    const crochet::test::FilesMayNotGrow full(100);
    EXPECT_THROW(sink->write(std::string(60, 'b')), crochet::IoError);
  }
  EXPECT_EQ(crochet::testing::bytes_of(path), std::string(60, 'a'));
  sink->write("c");
  EXPECT_EQ(crochet::testing::bytes_of(path), std::string(60, 'a') + "c");
  EXPECT_EQ(io::EventFileSink::create(path), nullptr);
}

TEST(EventFileSink, SeesThatItsFileVanished) {
  const fs::path folder = crochet::testing::empty_folder();
  fs::create_directories(folder);
  const auto sink = io::EventFileSink::create(folder / "a");
  EXPECT_FALSE(sink->vanished());
  fs::rename(folder / "a", folder / "b");
  EXPECT_TRUE(sink->vanished());
  std::ofstream(folder / "a") << "another file";
  EXPECT_TRUE(sink->vanished());
  fs::rename(folder / "b", folder / "a");
  EXPECT_FALSE(sink->vanished());
  fs::remove_all(folder);
  EXPECT_TRUE(sink->vanished());
}

// ---- continuing after errors

struct Bench {
  EventDisk disk;
  ManualClock clock{1000}, wall{1700000000};
  RecordingSink said;

  io::EventLogOptions options(io::OnWriteError policy = io::OnWriteError::go_on) {
    return {.on_write_error = policy,
            .kept_bytes = 300,
            .clock = clock,
            .report = said,
            .file = {.wall_clock = wall, .create = disk}};
  }
  std::string written() const { return short_text(events_in(disk.newest().bytes)); }
};

TEST(EventLog, FlushesEvery120Seconds) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  log.append(scalar(1, 1, 1));
  EXPECT_EQ(log.seconds_to_flush(), 120);
  bench.clock.advance(119);
  log.flush_if_due();
  EXPECT_EQ(bench.disk->syncs, 0);
  bench.clock.advance(1);
  log.flush_if_due();
  EXPECT_EQ(bench.disk->syncs, 1);
  EXPECT_EQ(bench.disk.newest().synced, bench.disk.newest().bytes);
  EXPECT_EQ(bench.written(), "version loss=1@1");
  log.flush_if_due();
  EXPECT_EQ(bench.disk->syncs, 1);
  EXPECT_EQ(log.seconds_to_flush(), 120);
}

TEST(EventLog, AFullDiskLosesOnlyWhatThereIsNoMemoryFor) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  bench.disk->full = true;
  log.append(scalar(1, 1, 1));
  log.write();
  EXPECT_TRUE(log.failing());
  ASSERT_EQ(bench.said.lines().size(), 1U);
  EXPECT_NE(bench.said.text().find("no space left; training goes on"), std::string::npos) << bench.said.text();
  for (int i = 2; i <= 20; ++i) {
    log.append(scalar(1, i, 1));
    log.write();
  }
  log.flush();
  EXPECT_EQ(bench.said.lines().size(), 1U) << "said once";
  EXPECT_EQ(log.lost(), 13U) << "300 bytes are seven events of 42";
  bench.disk->full = false;
  log.write();
  EXPECT_EQ(bench.written(), "version") << "it waits for the flush";
  log.flush();
  EXPECT_FALSE(log.failing());
  EXPECT_EQ(bench.written(), "version loss=1@1 loss=1@2 loss=1@3 loss=1@4 loss=1@5 loss=1@6 loss=1@7");
  ASSERT_EQ(bench.said.lines().size(), 2U);
  EXPECT_NE(bench.said.lines()[1].find("13 were lost"), std::string::npos) << bench.said.text();
  log.append(scalar(1, 21, 1));
  log.write();
  EXPECT_TRUE(bench.written().ends_with(" loss=1@7 loss=1@21"));
}

TEST(EventLog, GoesOnInANewFileIfTheDiskRefusesWhatTheSystemHadTaken) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  const fs::path before = log.path();
  log.append(scalar(1, 1, 1));
  log.flush();
  bench.disk->refuses = true;
  for (int i = 2; i <= 4; ++i) log.append(scalar(1, i, 1));
  log.flush();
  EXPECT_EQ(log.lost(), 3U);
  log.append(scalar(1, 5, 1));
  bench.disk->refuses = false;
  log.flush();
  EXPECT_NE(log.path(), before) << "a reader stops at what is missing";
  EXPECT_EQ(bench.written(), "version loss=1@5");
  EXPECT_EQ(log.lost(), 3U);
  EXPECT_NE(bench.said.text().find(before.string() + " may lack its last events"), std::string::npos)
      << bench.said.text();
  EXPECT_NE(bench.said.text().find("; 3 were lost"), std::string::npos) << bench.said.text();
  log.append(scalar(1, 6, 1));
  log.flush();
  EXPECT_EQ(bench.written(), "version loss=1@5 loss=1@6");
}

TEST(EventLog, ADiskThatGoesOnRefusingIsTriedMoreAndMoreRarely) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  bench.disk->refuses = true;
  for (int flush = 1; flush <= 100; ++flush) {  // of 120 s
    log.append(scalar(1, flush, 1));
    bench.clock.advance(120);
    log.flush_if_due();
  }
  // At 120, 240, 480, 960, 1920, 3840 and 7440 s, and from there on each hour.
  EXPECT_EQ(bench.disk->order.size(), 8U);
  EXPECT_EQ(bench.said.lines().size(), 2U) << bench.said.text();
  bench.disk->refuses = false;
  bench.clock.advance(120);
  log.flush_if_due();
  EXPECT_TRUE(log.failing()) << "it waits";
  log.flush();
  EXPECT_FALSE(log.failing());
  EXPECT_EQ(bench.disk->order.size(), 9U);
  EXPECT_EQ(bench.said.lines().size(), 3U) << bench.said.text();
  EXPECT_NE(bench.said.text().find(log.path().string()), std::string::npos) << bench.said.text();
  bench.disk->refuses = true;
  for (int flush = 0; flush < 2; ++flush) {
    log.append(scalar(1, 1, 1));
    log.flush();
  }
  EXPECT_EQ(bench.disk->order.size(), 10U) << "the first new file is tried at once";
}

TEST(EventLog, OrTheErrorLeavesAtOnce) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options(io::OnWriteError::stop));
  bench.disk->full = true;
  log.append(scalar(1, 1, 1));
  EXPECT_THROW(log.write(), crochet::IoError);
  log.write();
  EXPECT_THROW(log.flush(), crochet::IoError) << "tried again, and said again, at each flush only";
  EXPECT_EQ(bench.said.text(), "");
  bench.disk->full = false;
  log.flush();
  EXPECT_EQ(bench.written(), "version loss=1@1") << "nothing was lost";
}

TEST(EventLog, GoesOnInANewFileIfItsFileVanished) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  const fs::path before = log.path();
  log.append(scalar(1, 1, 1));
  log.flush();
  bench.disk.newest().removed = true;
  log.append(scalar(1, 2, 1));
  log.write();
  EXPECT_EQ(log.path(), before) << "seen at the flush";
  log.append(scalar(1, 3, 1));
  log.flush();
  EXPECT_NE(log.path(), before);
  EXPECT_EQ(bench.written(), "version loss=1@3");
  ASSERT_EQ(bench.said.lines().size(), 1U);
  EXPECT_NE(bench.said.text().find(before.string() + " has vanished"), std::string::npos);
  EXPECT_NE(bench.said.text().find(log.path().string()), std::string::npos);
}

TEST(EventLog, StaysInItsFolderWhenTheProgramEntersAnother) {
  const crochet::test::TemporaryFolder here, there;
  RecordingSink said;
  std::optional<io::EventLog> log;
  {
    const crochet::test::CurrentFolder current{here.path()};
    log.emplace("logs", io::EventLogOptions{.report = said});
  }
  const crochet::test::CurrentFolder current{there.path()};
  log->append(scalar(1, 1, 1));
  log->flush();
  EXPECT_EQ(said.text(), "") << "its file has not vanished";
  fs::remove(log->path());
  log->append(scalar(2, 2, 2));
  log->flush();
  EXPECT_EQ(log->path().parent_path(), here / "logs");
  EXPECT_TRUE(fs::is_empty(there.path()));
}

TEST(EventLog, ATakenFolderThatCannotBeMadeAgainIsLikeAFullDisk) {
  Bench bench;
  io::EventLog log(crochet::testing::empty_folder(), bench.options());
  bench.disk->read_only = true;
  bench.disk.newest().removed = true;
  log.append(scalar(1, 1, 1));
  log.flush();
  EXPECT_TRUE(log.failing());
  EXPECT_NE(bench.said.text().find("read-only file system; training goes on"), std::string::npos);
  bench.disk->read_only = false;
  log.flush();
  EXPECT_FALSE(log.failing());
  EXPECT_EQ(bench.written(), "version loss=1@1");
}

}  // namespace

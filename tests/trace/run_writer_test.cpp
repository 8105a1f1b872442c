// SPDX-License-Identifier: Apache-2.0
// Writing the files of recorded runs under difficulties: another writer, an earlier trace, the end of the program, a
// slow disk.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/perfetto.pb.h>
#include <crochet/io/tfrecord.hpp>
#include <crochet/trace/run_writer.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../base/no_threads.hpp"
#include "../io/temporary_folder.hpp"
#include "../io/text_of.hpp"
#include "recorded_run.hpp"

namespace run_writer_test {

namespace cr = crochet;
namespace fs = std::filesystem;
namespace io = crochet::io;
using cr::test::TemporaryFolder;
using cr::test::text_of;
using cr::testing::RecordedRun;
using cr::trace::RunWriter;
using cr::trace::RunWriterOptions;
using Json = nlohmann::json;

cr::trace::RunTrace run_of_step(std::int64_t step) {
  static RecordedRun made;  // static: the files are made later, from its graph
  cr::trace::RunTrace run = made.record();
  run.step = step;
  return run;
}
/// The steps of the runs in a native trace, which must be complete.
std::vector<std::int64_t> runs_in(const fs::path& path) {
  crochet::proto::perfetto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(text_of(path))) << path;
  std::vector<std::int64_t> steps;
  for (const auto& p : trace.packet()) {
    const auto& e = p.track_event();
    if (e.debug_annotations_size() == 1 && e.debug_annotations(0).has_int_value()) {
      steps.push_back(e.debug_annotations(0).int_value());  // only runs have exactly one argument that is a number
    }
  }
  return steps;
}
using Steps = std::vector<std::int64_t>;

/// Files on disk whose create() waits: until go() is called, or for a short time for a second create() of the same
/// file, which must not happen.
class SlowFiles final : public io::FileSystem {
 public:
  enum class Wait : unsigned char { none, for_go, for_another };
  explicit SlowFiles(Wait wait) : wait_(wait) {}
  void go() {
    const std::lock_guard lock(mutex_);
    wait_ = Wait::none;
    changed_.notify_all();
  }
  void wait_for_a_writer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return creates_ > 0; });
  }
  [[nodiscard]] bool open_twice() const { return open_twice_; }

  std::unique_ptr<io::OutputFile> create(const fs::path& path, std::error_code& error) override {
    std::unique_lock lock(mutex_);
    open_twice_ = open_twice_ || !open_.insert(path).second;
    ++creates_;
    changed_.notify_all();
    if (wait_ == Wait::for_go) changed_.wait(lock, [this] { return wait_ == Wait::none; });
    if (wait_ == Wait::for_another) {
      changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return open_twice_; });
    }
    return io::local_files().create(path, error);
  }
  std::error_code rename(const fs::path& from, const fs::path& to) override {
    const std::lock_guard lock(mutex_);
    open_.erase(from);
    return io::local_files().rename(from, to);
  }
  std::error_code remove(const fs::path& path) override { return io::local_files().remove(path); }
  std::error_code sync_folder(const fs::path&) override { return {}; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<fs::path> open_;
  int creates_ = 0;
  Wait wait_;
  bool open_twice_ = false;
};

TEST(RunWriter, TwoOfOneFolderTakeTurns) {
  const TemporaryFolder folder;
  SlowFiles files(SlowFiles::Wait::for_another);
  std::vector<std::string> reports;
  {
    const RunWriterOptions options{.output_dir = folder.path(),
                                   .report = [&](std::string_view line) { reports.emplace_back(line); },
                                   .files = &files};
    RunWriter one(options), other(options);
    one.write(run_of_step(7));
    other.write(run_of_step(7));
    one.flush();
    other.flush();
  }
  EXPECT_FALSE(files.open_twice()) << "a reader could have seen one's file half written by the other";
  EXPECT_TRUE(reports.empty()) << reports.front();
  EXPECT_TRUE(Json::accept(text_of(folder / "timeline-7.json")));
}

TEST(RunWriter, WaitsForSpaceForEver) {
  const TemporaryFolder folder;
  SlowFiles files(SlowFiles::Wait::for_go);
  std::vector<std::string> reports;
  {
    RunWriter writer({.output_dir = folder.path(),
                      .report = [&](std::string_view line) { reports.emplace_back(line); },
                      .wait_seconds = std::numeric_limits<double>::infinity(),
                      .files = &files});
    writer.write(run_of_step(0));
    files.wait_for_a_writer();
    for (int step = 1; step <= 8; ++step) writer.write(run_of_step(step));  // the queue is full
    std::thread another([&] { writer.write(run_of_step(9)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // passes at any speed; long enough to detect a timeout
    files.go();
    another.join();
    writer.flush();
  }
  EXPECT_TRUE(reports.empty()) << reports.front();
  EXPECT_TRUE(fs::exists(folder / "timeline-9.json"));
}

TEST(RunWriter, WritesInTheLoopWhereNoThreadCanBeStarted) {
  const TemporaryFolder folder;
  const crochet::test::NoThreads none;
  RunWriter writer({.output_dir = folder.path()});
  writer.write(run_of_step(3));
  EXPECT_TRUE(fs::exists(folder / "timeline-3.json"));
}

TEST(RunWriter, AStepThatIsRecordedAgainIsNoError) {
  const TemporaryFolder folder;
  std::vector<std::string> reports;
  {
    const io::EventWriter events(folder.path());
    const RunWriterOptions options{.output_dir = folder.path(),
                                   .events = events,
                                   .in_background = false,
                                   .on_write_error = io::OnWriteError::stop,
                                   .report = [&](std::string_view line) { reports.emplace_back(line); }};
    RunWriter writer(options), later(options);  // an earlier step, as after a recovery, then another session
    EXPECT_NO_THROW(writer.write(run_of_step(7)));
    fs::remove(folder / "timeline-7.json");
    EXPECT_NO_THROW(writer.write(run_of_step(7)));
    EXPECT_TRUE(fs::exists(folder / "timeline-7.json")) << "the latest one";
    EXPECT_NO_THROW(later.write(run_of_step(7)));
    EXPECT_NO_THROW(later.write(run_of_step(8)));
    later.flush();

    std::vector<std::string> tags;
    const std::string bytes = text_of(events.path());
    std::string_view rest = bytes;
    while (const auto record = io::next_tfrecord(rest)) {
      crochet::proto::Event event;
      ASSERT_TRUE(event.ParseFromArray(record->data(), static_cast<int>(record->size())));
      if (event.has_tagged_run_metadata()) tags.push_back(event.tagged_run_metadata().tag());
    }
    EXPECT_EQ(tags, (std::vector<std::string>{"step_7", "step_8"})) << "a tag is for one record, the first";
  }
  EXPECT_TRUE(reports.empty());
}

TEST(RunWriter, ANativeTraceThatIsThereIsKept) {
  const TemporaryFolder folder;
  const RunWriterOptions options{.output_dir = folder.path(), .perfetto = folder / "run.pftrace"};
  for (const std::int64_t step : {1, 2, 3}) {  // three programs, or sessions
    RunWriter writer(options);
    writer.write(run_of_step(step));
    writer.write(run_of_step(step * 10));
    writer.flush();
  }
  EXPECT_EQ(runs_in(folder / "run.1.pftrace"), (Steps{1, 10}));
  EXPECT_EQ(runs_in(folder / "run.2.pftrace"), (Steps{2, 20}));
  EXPECT_EQ(runs_in(folder / "run.pftrace"), (Steps{3, 30}));
}

TEST(RunWriter, TwoOfOneNativeTraceHaveAFileEach) {
  const TemporaryFolder folder;
  {
    const RunWriterOptions options{.output_dir = folder.path(), .perfetto = folder / "run.pftrace"};
    RunWriter one(options), other(options);
    for (const std::int64_t step : {1, 2, 3}) {
      one.write(run_of_step(step));
      other.write(run_of_step(step));
    }
  }
  EXPECT_EQ(runs_in(folder / "run.1.pftrace"), (Steps{1, 2, 3}));
  EXPECT_EQ(runs_in(folder / "run.pftrace"), (Steps{1, 2, 3}));
}

TEST(RunWriter, AProgramThatIsKilledLeavesItsNativeTrace) {
  const TemporaryFolder folder;
  const fs::path path = folder / "run.pftrace";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunWriter writer({.output_dir = folder.path(), .perfetto = path, .in_background = false});
    for (const std::int64_t step : {1, 2, 3}) {
      writer.write(run_of_step(step));
      if (runs_in(path).size() != static_cast<std::size_t>(step)) _exit(1);  // already written when write() returns
    }
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(runs_in(path), (Steps{1, 2, 3}));
  for (const std::int64_t step : {1, 2, 3}) {
    EXPECT_TRUE(Json::accept(text_of(folder / ("timeline-" + std::to_string(step) + ".json"))));
  }
}

TEST(RunWriter, EightRunsWaitForASlowDiskAndNoMore) {
  for (const auto policy : {io::OnWriteError::go_on, io::OnWriteError::stop}) {
    const TemporaryFolder folder;
    SlowFiles files(SlowFiles::Wait::for_go);
    std::vector<std::string> reports;
    RunWriter writer({.output_dir = folder.path(),
                      .on_write_error = policy,
                      .report = [&](std::string_view line) { reports.emplace_back(line); },
                      .wait_seconds = 0,
                      .files = &files});
    writer.write(run_of_step(1));
    files.wait_for_a_writer();
    for (std::int64_t step = 2; step <= 20; ++step) writer.write(run_of_step(step));
    EXPECT_EQ(reports.size(), 1U) << "at once, and once";
    files.go();
    writer.flush();
    EXPECT_EQ(writer.table().runs(), 9);
    EXPECT_TRUE(fs::exists(folder / "timeline-9.json"));
    EXPECT_FALSE(fs::exists(folder / "timeline-10.json"));
    writer.write(run_of_step(21));
    writer.flush();
    EXPECT_TRUE(fs::exists(folder / "timeline-21.json")) << "when there is room again";
  }
}

TEST(RunWriter, WhatTheEventFileCannotTakeIsToldAsAsked) {
  const TemporaryFolder folder;
  io::EventWriterOptions broken;
  broken.log.on_write_error = io::OnWriteError::stop;
  broken.log.file.create = [](const fs::path& path) -> std::unique_ptr<io::EventSink> {
    struct Full final : io::EventSink {
      explicit Full(std::unique_ptr<io::EventSink> to) : inner(std::move(to)) {}
      void write(std::string_view bytes) override {
        if (writes++ > 0) throw cr::IoError("the disk is full");
        inner->write(bytes);
      }
      void sync() override {}
      [[nodiscard]] bool vanished() const override { return false; }
      std::unique_ptr<io::EventSink> inner;
      int writes = 0;
    };
    return std::make_unique<Full>(io::EventFileSink::create(path));
  };
  RunWriter writer({.output_dir = folder.path(),
                    .events = io::EventWriter(folder.path(), broken),
                    .on_write_error = io::OnWriteError::stop});
  writer.write(run_of_step(1));
  EXPECT_THROW(writer.flush(), cr::IoError);
}

}  // namespace run_writer_test

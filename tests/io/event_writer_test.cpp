// SPDX-License-Identifier: Apache-2.0
// The writer's thread and queue, the bytes of each kind of event, and the cache of writers. No test depends on the
// speed of a thread: a slow operation waits until the test continues it.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <gtest/gtest.h>
#include <crochet/io/event_queue.hpp>

#include "current_folder.hpp"
#include "event_memory.hpp"
#include "temporary_folder.hpp"

#include <crochet/base/utf8.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/file_writer_cache.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CROCHET_TESTS_UNDER_TSAN
#endif
#endif

namespace event_writer_test {

namespace io = crochet::io;
namespace fs = std::filesystem;
using crochet::testing::EventDisk;
using crochet::testing::events_in;
using crochet::testing::ManualClock;
using crochet::testing::RecordingSink;
using crochet::testing::short_text;

struct Desk {
  EventDisk disk;
  crochet::testing::SharedClock clock;
  ManualClock wall{1700000000};
  RecordingSink said;

  io::EventWriterOptions options() const {
    io::EventWriterOptions o;
    o.log.clock = clock;
    o.log.report = said;
    o.log.file.wall_clock = wall;
    o.log.file.create = disk;
    return o;
  }
  io::EventWriter writer() const { return io::EventWriter(crochet::testing::empty_folder(), options()); }
  std::vector<crochet::proto::Event> events() const { return events_in(disk.newest().bytes); }
  std::string text() const { return short_text(events()); }
};

/// The message of the LogicError that `act` throws; empty without one.
std::string refusal(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const crochet::LogicError& error) {
    return error.what();
  }
}

TEST(EventWriter, WritesEachKind) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  desk.wall.set(1700000002.25);
  events.add_scalar("train loss", 0.5, 3);
  events.add_histogram("w", std::span<const float>(std::vector<float>{1, 2, 3}), 4);
  events.add_image("digit", {{0, 50, 100, 255}, 2, 2, 1}, 5);
  events.add_text("note", "*hello*", 6);
  events.add_summary(io::Summary{}.scalar("a", 1).scalar("b", -2.5), 7);
  events.add_run_metadata("step_7", "bytes");
  events.add_session_log(crochet::proto::SessionLog::STOP, 8, "", "done");
  events.checkpoint(9, "dir/model.ckpt");
  events.add_graph({});
  events.add_meta_graph({});
  events.close();
  EXPECT_EQ(desk.text(),
            "version train_loss=0.5@3 w[3]@4 digit<png>@5 note'*hello*'@6 a=1+b=-2.5@7 step_7 STOP@8done "
            "CHECKPOINT@9dir/model.ckpt graph meta_graph");
  const auto all = desk.events();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].wall_time(), 1700000002.25) << "seconds";
  const auto& image = all[3].summary().value(0).image();
  EXPECT_EQ(image.height(), 2);
  EXPECT_EQ(image.width(), 2);
  EXPECT_EQ(image.colorspace(), 1);
  EXPECT_EQ(image.encoded_image_string().substr(1, 3), "PNG");
  const auto& note = all[4].summary().value(0);
  EXPECT_EQ(note.metadata().plugin_data().plugin_name(), "text");
  EXPECT_EQ(note.tensor().dtype(), crochet::proto::DT_STRING);
  EXPECT_EQ(all[2].summary().value(0).histo().sum(), 6);
  EXPECT_EQ(all[6].step(), 0) << "run metadata has no step";
}

TEST(EventWriter, OneThatIsNothingWritesNothing) {
  const io::EventWriter none;
  EXPECT_FALSE(none);
  none.add_scalar("loss", 1, 1);
  none.add_text("", "not even a tag is looked at", 1);
  none.start(1);
  none.stop(1);
  none.add_graph({});
  none.flush();
  none.close();
  EXPECT_EQ(none.path(), "");
}

TEST(EventWriter, ASessionBeginsBeforeItsFirstSummary) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  const auto summary = [&](std::int64_t step) {
    events.start(step);
    events.add_scalar("loss", 1, step);
  };
  summary(101);  // resumed from 100
  summary(101);  // another hook, in the same step
  summary(105);
  summary(103);  // recovered at 102: the values of 103 to 105 are void
  summary(104);
  events.stop(104, "enough");
  events.stop(104, "enough");
  summary(105);  // another session of this process
  events.close();
  EXPECT_EQ(desk.text(),
            "version START@101 loss=1@101 loss=1@101 loss=1@105 START@103 loss=1@103 loss=1@104 STOP@104enough "
            "START@105 loss=1@105");
}

TEST(EventWriter, ASessionBehindAnotherBeginsNoSecondTime) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  const crochet::SummarySink a = events, b = events;
  a.scalar("a", 1, 300);
  b.scalar("b", 1, 10);  // a younger session: TensorBoard would discard a=1@300
  a.scalar("a", 1, 310);
  b.scalar("b", 1, 20);
  a.stop(310);
  b.scalar("b", 1, 30);
  b.scalar("b", 1, 25);  // recovered
  b.stop(25);
  const crochet::SummarySink c = events;
  c.scalar("c", 1, 26);
  events.close();
  EXPECT_EQ(desk.text(),
            "version START@300 a=1@300 b=1@10 a=1@310 b=1@20 STOP@310 b=1@30 START@25 b=1@25 STOP@25 START@26 c=1@26");
}

TEST(EventWriter, HooksOfASessionThatRecoversBeginItOnce) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  const crochet::SummarySink a = events, b = events;
  a.scalar("a", 1, 1);
  b.scalar("b", 1, 1);
  a.scalar("a", 1, 9);
  b.scalar("b", 1, 8);
  a.scalar("a", 1, 3);  // recovered at 2
  b.scalar("b", 1, 3);
  b.scalar("b", 1, 4);
  a.scalar("a", 1, 4);
  b.scalar("b", 1, 2);  // and at 1
  a.scalar("a", 1, 2);
  a.stop(2);
  b.stop(2);
  events.close();
  EXPECT_EQ(desk.text(),
            "version START@1 a=1@1 b=1@1 a=1@9 b=1@8 START@3 a=1@3 b=1@3 b=1@4 a=1@4 START@2 b=1@2 a=1@2 STOP@2");
}

TEST(EventWriter, ASessionBeginsAfterOneThatWasDestroyedWithoutAnEnd) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  crochet::SummarySink(events).scalar("a", 1, 9);
  crochet::SummarySink(events).scalar("a", 1, 5);
  events.close();
  EXPECT_EQ(desk.text(), "version START@9 a=1@9 START@5 a=1@5");
}

TEST(EventWriter, SummariesWithAnotherAxisBeginNoSession) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  for (const std::int64_t step : {1, 2}) {
    events.start(step);
    events.add_scalar("loss", 1, step);
    events.add_scalar("by_examples", 1, 128 * step);
  }
  events.close();
  EXPECT_EQ(desk.text(), "version START@1 loss=1@1 by_examples=1@128 loss=1@2 by_examples=1@256");
}

TEST(EventWriter, TheLastCopyWritesWhatIsLeft) {
  Desk desk;
  {
    const io::EventWriter events = desk.writer();
    {
      const io::EventWriter copy = events;
      copy.add_scalar("a", 1, 1);
    }
    for (int i = 2; i <= 100; ++i) events.add_scalar("a", 1, i);
  }
  EXPECT_EQ(desk.events().size(), 101U);
  EXPECT_EQ(desk.disk.newest().synced, desk.disk.newest().bytes) << "on the disk";
}

TEST(EventWriter, WithoutAPauseBetweenFlushesItSleeps) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.log.flush_seconds = 0;
  options.log.clock = crochet::steady_seconds;
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  events.add_scalar("a", 1, 1);
  events.flush();
  const int before = desk.disk->syncs;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(desk.disk->syncs - before, 100) << "thousands, without a pause";
}

TEST(EventWriter, FlushReturnsWhenItIsOnTheDisk) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  events.add_scalar("a", 1, 1);
  events.flush();
  EXPECT_EQ(short_text(events_in(desk.disk.newest().synced)), "version a=1@1");
  events.add_scalar("a", 1, 2);
  events.flush();
  EXPECT_EQ(short_text(events_in(desk.disk.newest().synced)), "version a=1@1 a=1@2");
}

TEST(EventWriter, FlushesByItselfWhenItIsTime) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  events.add_scalar("a", 1, 1);
  events.flush();
  const int before = desk.disk->syncs;
  desk.clock.advance(121);
  events.add_scalar("a", 1, 2);  // two events: the first one's flush has ended when the second is taken
  events.add_scalar("a", 1, 3);
  events.close();
  EXPECT_EQ(desk.disk->syncs, before + 2) << "one that was due, and the last";
}

TEST(EventWriter, IsClosedOnceAndForAllCopies) {
  Desk desk;
  const io::EventWriter events = desk.writer(), copy = events;
  events.close();
  copy.close();
  EXPECT_TRUE(copy.closed());
  EXPECT_THROW(copy.add_scalar("a", 1, 1), crochet::LogicError);
  copy.flush();
}

TEST(EventWriter, RefusesATagOfRunMetadataThatWasUsed) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  events.add_run_metadata("step_1", "");
  EXPECT_THROW(events.add_run_metadata("step_1", ""), crochet::LogicError);
  EXPECT_FALSE(events.add_first_run_metadata("step_1", ""));
  EXPECT_TRUE(events.add_first_run_metadata("step_2", ""));
  EXPECT_THROW(events.add_scalar("", 1, 1), crochet::LogicError);
}

/// A disk that writes only the version until the gate is opened.
struct Gate {
  std::promise<void> reached, open;
};
struct SlowSink final : io::EventSink {
  SlowSink(std::unique_ptr<io::EventSink> to, Gate& g) : inner(std::move(to)), gate(g) {}
  void write(std::string_view bytes) override {
    if (writes++ == 1) {
      gate.reached.set_value();
      gate.open.get_future().wait();
    }
    inner->write(bytes);
  }
  void sync() override { inner->sync(); }
  [[nodiscard]] bool vanished() const override { return false; }
  std::unique_ptr<io::EventSink> inner;
  Gate& gate;
  int writes = 0;
};
auto slow(const EventDisk& disk, Gate& gate) {
  return [disk, &gate](const fs::path& path) { return std::make_unique<SlowSink>(disk(path), gate); };
}

/// Sets a promise at each write.
struct TellingSink final : io::EventSink {
  TellingSink(std::unique_ptr<io::EventSink> to, std::promise<void>& p) : inner(std::move(to)), written(p) {}
  void write(std::string_view bytes) override {
    inner->write(bytes);
    if (writes++ == 1) written.set_value();
  }
  void sync() override { inner->sync(); }
  [[nodiscard]] bool vanished() const override { return false; }
  std::unique_ptr<io::EventSink> inner;
  std::promise<void>& written;
  int writes = 0;
};

TEST(EventWriter, ReadersSeeAnEventWithoutAFlush) {
  Desk desk;
  std::promise<void> written;
  io::EventWriterOptions options = desk.options();
  options.log.file.create = [&](const fs::path& path) {
    return std::make_unique<TellingSink>(desk.disk(path), written);
  };
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  events.add_scalar("a", 1, 1);
  written.get_future().wait();
  EXPECT_EQ(desk.text(), "version a=1@1");
}

TEST(EventWriter, DropsWhatFindsNoRoomInTimeAndSaysSo) {
  Desk desk;
  Gate gate;
  io::EventWriterOptions options = desk.options();
  options.queue = 3;
  options.queue_wait_seconds = 0;
  options.log.file.create = slow(desk.disk, gate);
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  events.add_scalar("a", 0, 0);
  gate.reached.get_future().wait();  // the write of event 0 has begun and blocks: the queue is empty
  for (int i = 1; i <= 5; ++i) events.add_scalar("a", 0, i);
  EXPECT_EQ(events.dropped(), 2U);
  gate.open.set_value();
  events.flush();
  EXPECT_EQ(desk.text(), "version a=0@0 a=0@1 a=0@2 a=0@3");
  ASSERT_EQ(desk.said.lines().size(), 1U);
  EXPECT_EQ(desk.said.lines()[0].substr(0, 32), "crochet: 2 events were dropped: ");
}

TEST(EventWriter, OrWaitsForRoom) {
  Desk desk;
  Gate gate;
  io::EventWriterOptions options = desk.options();
  options.queue = 1;
  options.queue_wait_seconds = 1e6;
  options.log.file.create = slow(desk.disk, gate);
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  events.add_scalar("a", 0, 0);
  gate.reached.get_future().wait();
  std::thread step([&] {
    for (int i = 1; i <= 5; ++i) events.add_scalar("a", 0, i);
  });
  gate.open.set_value();
  step.join();
  events.flush();
  EXPECT_EQ(events.dropped(), 0U);
  EXPECT_EQ(desk.events().size(), 7U);
}

TEST(EventWriter, OrWaitsForRoomForEver) {
  Desk desk;
  Gate gate;
  io::EventWriterOptions options = desk.options();
  options.queue = 1;
  options.queue_wait_seconds = std::numeric_limits<double>::infinity();
  options.log.flush_seconds = std::numeric_limits<double>::infinity();
  options.log.file.create = slow(desk.disk, gate);
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  events.add_scalar("a", 0, 0);
  gate.reached.get_future().wait();
  events.add_scalar("a", 0, 1);
  std::promise<void> tries;
  std::thread step([&] {
    tries.set_value();
    events.add_scalar("a", 0, 2);
  });
  tries.get_future().wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // passes at any speed; long enough to detect a timeout
  gate.open.set_value();
  step.join();
  events.flush();
  EXPECT_EQ(events.dropped(), 0U);
}

TEST(EventWriter, RefusesAQueueOfNoEvents) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.queue = 0;
  const std::string error = refusal([&] { io::EventWriter(crochet::testing::empty_folder(), options); });
  EXPECT_EQ(error, "crochet: EventWriterOptions::queue is 0, and every event would be dropped; set at least 1");
  EXPECT_TRUE(desk.disk->order.empty()) << "no file";
}

TEST(EventQueue, AFlushDoesNotWaitForWhatIsAddedAfterIt) {
  Desk desk;
  std::atomic<bool> flushed = false;
  int works = 0;
  io::detail::EventQueue queue{io::EventLog(crochet::testing::empty_folder(), desk.options().log), 10, 0};
  const std::function<void(io::EventLog&)> again = [&](io::EventLog&) {
    if (!flushed && ++works < 5'000'000) queue.add(again);  // keeps the queue busy
  };
  queue.add(again);
  queue.flush();
  flushed = true;
  queue.close();
  EXPECT_LT(works, 5'000'000);
}

/// A disk whose sync waits until the gate is opened.
struct SlowSync final : io::EventSink {
  SlowSync(std::unique_ptr<io::EventSink> to, Gate& g) : inner(std::move(to)), gate(g) {}
  void write(std::string_view bytes) override { inner->write(bytes); }
  void sync() override {
    if (std::exchange(first, false)) {
      gate.reached.set_value();
      gate.open.get_future().wait();
    }
    inner->sync();
  }
  [[nodiscard]] bool vanished() const override { return false; }
  std::unique_ptr<io::EventSink> inner;
  Gate& gate;
  bool first = true;
};

TEST(EventQueue, WorkThatIsTakenWhileItClosesIsDone) {
  Desk desk;
  Gate gate;
  io::EventLogOptions options = desk.options().log;
  options.file.create = [&](const fs::path& path) { return std::make_unique<SlowSync>(desk.disk(path), gate); };
  io::detail::EventQueue queue{io::EventLog(crochet::testing::empty_folder(), options), 1, 1e6};
  std::promise<void> begun, go_on;
  std::atomic<bool> done = false;
  queue.add([&](io::EventLog&) {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  bool taken = false;
  std::thread step([&] { taken = queue.add([&](io::EventLog&) { done = true; }); });  // waits for room
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::thread end([&] { queue.close(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  go_on.set_value();
  gate.reached.get_future().wait();  // the last flush, after all work that was queued
  step.join();
  gate.open.set_value();
  end.join();
  EXPECT_EQ(taken, done) << "it was neither done nor dropped";
}

TEST(EventWriter, AddsFromManyThreadsAreAllThere) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) events.add_scalar("t" + std::to_string(t), i, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  events.close();
  const auto all = desk.events();
  ASSERT_EQ(all.size(), 1001U);
  std::map<std::string, std::int64_t> next;
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].step(), next[all[i].summary().value(0).tag()]++);
}

TEST(EventWriter, AFullDiskDoesNotStopTheRun) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  desk.disk->full = true;
  events.add_scalar("a", 1, 1);
  events.flush();
  events.add_scalar("a", 1, 2);
  EXPECT_EQ(desk.said.lines().size(), 1U);
  desk.disk->full = false;
  events.flush();
  EXPECT_EQ(desk.text(), "version a=1@1 a=1@2");
}

TEST(EventWriter, UnlessItIsMeantTo) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.log.on_write_error = io::OnWriteError::stop;
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  desk.disk->full = true;
  events.add_scalar("a", 1, 1);
  try {
    events.flush();
    FAIL();
  } catch (const crochet::IoError& error) {
    EXPECT_NE(std::string(error.what()).find("no space left"), std::string::npos);
  }
  desk.disk->full = false;
  events.add_scalar("a", 1, 2);
  events.flush();
  EXPECT_EQ(desk.text(), "version a=1@1 a=1@2") << "thrown once; nothing was lost";
}

TEST(EventWriter, TheNextAddHearsOfAFailureInTheThread) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.non_finite = io::NonFinite::refuse;
  const io::EventWriter events(crochet::testing::empty_folder(), options);
  const std::vector<double> bad{1, std::nan("")};
  events.add_histogram("w", std::span<const double>(bad), 1);
  EXPECT_THROW(events.flush(), crochet::DataError);
  events.add_histogram("w", std::span<const double>(bad), 2);
  EXPECT_THROW(events.close(), crochet::DataError);
  EXPECT_EQ(desk.text(), "version");
}

TEST(EventWriter, LeavesOutWhatIsNotFiniteAndSaysSoOnce) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  const std::vector<float> bad{1, std::nanf(""), std::numeric_limits<float>::infinity()};
  for (int i = 1; i <= 3; ++i) events.add_histogram("w", std::span<const float>(bad), i);
  events.close();
  EXPECT_EQ(desk.text(), "version w[1]@1 w[1]@2 w[1]@3");
  ASSERT_EQ(desk.said.lines().size(), 1U);
  EXPECT_NE(desk.said.text().find("2 values that are infinite"), std::string::npos);
}

TEST(EventWriter, AFailureThatNobodyAsksForIsReported) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.log.on_write_error = io::OnWriteError::stop;
  {
    const io::EventWriter events(crochet::testing::empty_folder(), options);
    desk.disk->full = true;
    events.add_scalar("a", 1, 1);
  }
  EXPECT_NE(desk.said.text().find("no space left"), std::string::npos);
}

// proto3 has texts in UTF-8 only, and its readers reject a whole event with another one.
TEST(EventWriter, APathThatIsNotUtf8LeavesTheEventReadable) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  events.checkpoint(9,
                    "dir/\xfc"
                    "bung/model.ckpt-9");
  events.stop(9,
              "cannot write dir/\xfc"
              "bung");
  events.close();
  int logs = 0;
  for (const crochet::proto::Event& event : desk.events()) {
    if (!event.has_session_log()) continue;
    ++logs;
    const std::string path = event.session_log().checkpoint_path() + event.session_log().msg();
    EXPECT_EQ(crochet::detail::valid_utf8(path), path);
    EXPECT_NE(path.find("bung"), std::string::npos);
  }
  EXPECT_GE(logs, 1);
}

// ---- after fork(), in the child, which has the memory of the thread and not the thread

/// The exit status of a child process that calls `act`, or -1 if it did not end within a minute.
int status_of_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(act());
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
/// Waits until the thread of a writer probably sleeps. A child of fork() has the locks that other threads hold: of a
/// test's disk, and of AddressSanitizer's allocator.
void let_sleep(const io::EventWriter& events) {
  events.flush();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST(EventWriter, AChildOfForkDestroysItsCopies) {
  Desk desk;
  std::optional<io::EventWriter> events = desk.writer();
  events->add_scalar("a", 1, 1);
  let_sleep(*events);
  EXPECT_EQ(status_of_child([&] {
              events->close();
              events.reset();
              return 7;
            }),
            7);
  events->add_scalar("a", 1, 2);
  events->close();
  EXPECT_EQ(desk.text(), "version a=1@1 a=1@2");
}

TEST(EventWriter, AChildOfForkCannotAdd) {
  Desk desk;
  const io::EventWriter events = desk.writer();
  let_sleep(events);
  EXPECT_EQ(status_of_child([&] {
              const std::string added = refusal([&] { events.add_scalar("a", 1, 1); });
              const bool is_clear = added.find("fork()") != std::string::npos;
              const bool others = !refusal([&] { events.flush(); }).empty() &&
                                  !refusal([&] { events.start(1); }).empty() &&
                                  !refusal([&] { events.stop(1); }).empty() &&
                                  !refusal([&] { events.add_run_metadata("a", ""); }).empty();
              return is_clear && others && events.closed() && events.path().empty() && events.dropped() == 0 ? 7 : 1;
            }),
            7);
  events.close();
  EXPECT_EQ(desk.text(), "version");
}

#ifndef CROCHET_TESTS_UNDER_TSAN  // which ends a child that starts a thread
TEST(FileWriterCache, AChildOfForkGetsAWriterOfItsOwn) {
  Desk desk;
  const fs::path folder = crochet::testing::empty_folder();
  const io::EventWriter events = io::FileWriterCache::get(folder, desk.options());
  let_sleep(events);
  EXPECT_EQ(status_of_child([&] {
              const io::EventWriter own = io::FileWriterCache::get(folder, desk.options());
              const bool is_other = !own.closed() && own.path() != events.path();
              own.add_scalar("a", 1, 1);
              io::FileWriterCache::clear();
              return is_other && desk.text() == "version a=1@1" ? 7 : 1;
            }),
            7);
  io::FileWriterCache::clear();
  EXPECT_EQ(desk.text(), "version");
}
#endif

// ---- the cache

TEST(FileWriterCache, HasOneWriterForAFolder) {
  Desk desk;
  const fs::path folder = crochet::testing::empty_folder();
  const io::EventWriter a = io::FileWriterCache::get(folder, desk.options());
  const io::EventWriter same = io::FileWriterCache::get(folder / ".." / folder.filename() / "");
  const io::EventWriter other = io::FileWriterCache::get(folder / "other", desk.options());
  EXPECT_EQ(same.path(), a.path());
  EXPECT_NE(other.path(), a.path());
  a.add_scalar("a", 1, 1);
  same.add_scalar("a", 1, 2);
  io::FileWriterCache::clear();
  EXPECT_TRUE(a.closed() && same.closed() && other.closed());
  EXPECT_EQ(short_text(events_in(desk.disk->files.at(a.path()).bytes)), "version a=1@1 a=1@2");
  const io::EventWriter again = io::FileWriterCache::get(folder, desk.options());
  EXPECT_NE(again.path(), a.path());
  again.close();
  EXPECT_FALSE(io::FileWriterCache::get(folder, desk.options()).closed()) << "one that its user closed is made anew";
  io::FileWriterCache::clear();
}

TEST(FileWriterCache, ARelativeFolderIsBelowTheCurrentOne) {
  Desk desk;
  const crochet::test::TemporaryFolder here, there;
  fs::path first;
  {
    const crochet::test::CurrentFolder current{here.path()};
    first = io::FileWriterCache::get("logs", desk.options()).path();
    EXPECT_EQ(io::FileWriterCache::get(here / "logs", desk.options()).path(), first);
  }
  const crochet::test::CurrentFolder current{there.path()};
  EXPECT_NE(io::FileWriterCache::get("logs", desk.options()).path(), first);
  io::FileWriterCache::clear();
}

TEST(FileWriterCache, TheParentOfALinksTargetIsNotTheParentOfTheLink) {
  Desk desk;
  const crochet::test::TemporaryFolder folder;
  fs::create_directories(folder / "runs/first");
  fs::create_directory_symlink(folder / "runs/first", folder / "link");
  const io::EventWriter beside = io::FileWriterCache::get(folder / "logs", desk.options());
  const io::EventWriter below = io::FileWriterCache::get(folder / "link/../logs", desk.options());
  EXPECT_NE(below.path(), beside.path());
  EXPECT_EQ(io::FileWriterCache::get(folder / "runs/logs", desk.options()).path(), below.path());
  io::FileWriterCache::clear();
}

TEST(FileWriterCache, ALinkToAFolderIsThatFolder) {
  Desk desk;
  const crochet::test::TemporaryFolder folder;
  fs::create_directories(folder / "runs");
  fs::create_directory_symlink(folder / "runs", folder / "link");
  const io::EventWriter direct = io::FileWriterCache::get(folder / "runs", desk.options());
  EXPECT_EQ(io::FileWriterCache::get(folder / "link", desk.options()).path(), direct.path());
  io::FileWriterCache::clear();
}

TEST(FileWriterCache, ClearClosesAllWritersAndThrowsAnErrorOfThem) {
  Desk desk;
  io::EventWriterOptions options = desk.options();
  options.log.on_write_error = io::OnWriteError::stop;
  const fs::path folder = crochet::testing::empty_folder();
  const io::EventWriter a = io::FileWriterCache::get(folder / "a", options);
  const io::EventWriter b = io::FileWriterCache::get(folder / "b", options);
  desk.disk->full = true;
  a.add_scalar("a", 1, 1);
  b.add_scalar("b", 1, 1);
  EXPECT_THROW(io::FileWriterCache::clear(), crochet::IoError);
  EXPECT_TRUE(a.closed());
  EXPECT_TRUE(b.closed());
  EXPECT_NO_THROW(io::FileWriterCache::clear()) << "it is empty";
}

TEST(FileWriterCache, ThreadsGetTheSameWriter) {
  Desk desk;
  const fs::path folder = crochet::testing::empty_folder();
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::vector<fs::path> paths;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const fs::path path = io::FileWriterCache::get(folder, desk.options()).path();
      const std::lock_guard lock(mutex);
      paths.push_back(path);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(paths, std::vector<fs::path>(4, paths[0]));
  EXPECT_EQ(desk.disk->order.size(), 1U);
  io::FileWriterCache::clear();
}

}  // namespace event_writer_test

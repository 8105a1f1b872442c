// SPDX-License-Identifier: Apache-2.0
// Saves in the background: their cost in the loop, one save at a time, and errors that are thrown at the next step.
#include <crochet/checkpoint/async_saver.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <crochet/base/diagnostics.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

#include "directory.hpp"

namespace crochet {
namespace async_saver_test {

/// TensorBundle with a gate: a write waits until the gate opens, and fails if the test sets an error.
struct Gated {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = true;
    std::string failure;
    int begun = 0;
  };
  static Gate& gate() {
    static Gate one;
    return one;
  }
  static void set(bool open, const std::string& failure = "") {
    const std::lock_guard lock(gate().mutex);
    gate().open = open;
    gate().failure = failure;
    gate().changed.notify_all();
  }
  static int begun() {
    const std::lock_guard lock(gate().mutex);
    return gate().begun;
  }

  static constexpr std::string_view name = "gated";
  using Reader = io::TensorBundleReader;
  static std::filesystem::path index_file(const std::filesystem::path& prefix) {
    return io::TensorBundle::index_file(prefix);
  }
  static std::vector<std::filesystem::path> files(const std::filesystem::path& prefix) {
    return io::TensorBundle::files(prefix);
  }
  static void write(const std::filesystem::path& prefix, std::span<const io::TensorRecord> tensors,
                    io::FileSystem& files) {
    std::unique_lock lock(gate().mutex);
    ++gate().begun;
    gate().changed.wait(lock, [] { return gate().open; });
    if (!gate().failure.empty()) throw IoError(gate().failure);
    lock.unlock();
    io::TensorBundle::write(prefix, tensors, files);
  }
};

using Steps = std::vector<std::int64_t>;

struct Noted {
  Steps* saved;
  void after_save(auto&, std::int64_t step) const { saved->push_back(step); }
};

class AsyncSaves : public ::testing::Test {
 protected:
  Directory dir;
  testing::RecordingSink sink;
  std::vector<double> w = std::vector<double>(3);
  Steps saved;

  void SetUp() override { Gated::set(true), Gated::gate().begun = 0; }
  Saver<Gated> saver() { return Saver<Gated>{dir.path(), {.max_to_keep = 0, .say = sink}}; }
  auto executor() {
    return StepExecutor{[this](auto&) {
                          for (double& x : w) x += 1;
                        },
                        variable<"w">(w)};
  }
  auto hook(OnSaveFailure on_failure = OnSaveFailure::stop) {
    return CheckpointSaver{
        AsyncSaver{saver()}, {.save_steps = 2, .on_failure = on_failure, .sink = sink}, Noted{&saved}};
  }
  double saved_w(int step) {
    std::vector<double> kept(3);
    StepExecutor other{[](auto&) {}, variable<"w">(kept)};
    RawSession<decltype(other)> raw{other};
    saver().restore(raw, dir / ("model.ckpt-" + std::to_string(step)));
    EXPECT_EQ(raw.step(), step);
    return kept[0];
  }
};

TEST_F(AsyncSaves, TheLoopGoesOnWhileOneIsWrittenAndNoOtherIsBegun) {
  MonitoredSession session{executor(), HookChain{hook()}};
  auto& background = session.hooks().at<0>().saver();
  background.wait();
  session.run();
  EXPECT_EQ(saved, Steps{0});
  Gated::set(false);
  for (int step = 2; step <= 7; ++step) session.run();  // a call that waited would block here forever
  EXPECT_TRUE(background.busy());
  EXPECT_EQ(background.step(), 2);
  EXPECT_EQ(saved, Steps{0});
  Gated::set(true);
  background.wait();
  EXPECT_TRUE(background.done());
  session.run();  // finishes step 2 and starts the save that is due
  EXPECT_EQ(saved, (Steps{0, 2}));
  background.wait();
  session.run();
  EXPECT_EQ(saved, (Steps{0, 2, 8}));
  EXPECT_EQ(Gated::begun(), 3);
  session.close();
  EXPECT_EQ(saved, (Steps{0, 2, 8, 9})) << "the end waits";
  EXPECT_EQ(saved_w(2), 2) << "what is written is what was there when it was due";
  EXPECT_EQ(saved_w(8), 8);
  EXPECT_EQ(saved_w(9), 9);
}

TEST_F(AsyncSaves, ErrorsReachTheLoopAtTheNextStep) {
  MonitoredSession session{executor(), HookChain{hook()}};
  auto& background = session.hooks().at<0>().saver();
  background.wait();
  session.run();
  Gated::set(true, "the disk is full");
  session.run();  // the save begins
  background.wait();
  try {
    session.run();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "the disk is full");
  }
  EXPECT_EQ(session.step(), 3);
  session.fail(nullptr);
  EXPECT_EQ(saved, Steps{0});
}

TEST_F(AsyncSaves, ErrorsAreAWarningIfThatIsWanted) {
  MonitoredSession session{executor(), HookChain{hook(OnSaveFailure::warn)}};
  auto& background = session.hooks().at<0>().saver();
  background.wait();
  session.run();
  Gated::set(true, "the disk is full");
  session.run();
  background.wait();
  session.run();
  EXPECT_EQ(sink.lines(), (std::vector<std::string>{"the disk is full; step 2 is not saved, the run goes on"}));
  EXPECT_EQ(session.hooks().at<0>().failures(), 1);
  Gated::set(true);
  session.close();
  EXPECT_EQ(saved, (Steps{0, 3}));
}

TEST_F(AsyncSaves, TheLastErrorComesAtTheEnd) {
  MonitoredSession session{executor(), HookChain{hook()}};
  session.hooks().at<0>().saver().wait();
  session.run();
  Gated::set(true, "the disk is full");
  EXPECT_THROW(session.close(), IoError);
}

TEST_F(AsyncSaves, DestructionWaitsForTheSaveInFlight) {
  Gated::set(false);
  std::optional<AsyncSaver<Saver<Gated>>> background(std::in_place, saver());
  auto e = executor();
  RawSession<decltype(e)> raw{e, 1};
  background->save(raw, 1);
  w.clear();
  std::jthread opener([] { Gated::set(true); });
  background.reset();
  EXPECT_TRUE(std::filesystem::exists(dir / "model.ckpt-1.index"));
}

TEST_F(AsyncSaves, AChildOfForkDestroysItsCopyAndCannotSave) {
  std::optional<AsyncSaver<Saver<Gated>>> background(std::in_place, saver());
  auto e = executor();
  RawSession<decltype(e)> raw{e, 1};
  Gated::set(false);
  background->save(raw, 1);
  // Until the thread probably waits: a child has the lock of AddressSanitizer's allocator that another thread holds.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // ends a child that waits for ever
    bool refused = false;
    try {
      background->save(raw, 2);
    } catch (const LogicError& error) {
      refused = std::string(error.what()).find("fork()") != std::string::npos;
    }
    const bool idle = !background->busy() && !background->done();
    background.reset();
    ::_exit(refused && idle ? 7 : 1);
  }
  Gated::set(true);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  background.reset();
  EXPECT_TRUE(std::filesystem::exists(dir / "model.ckpt-1.index")) << "the parent has written it";
}

struct LosesTheMachine {
  bool* lost;
  void after_run(auto& run, const auto&) const {
    if (run.step() == 3 && !std::exchange(*lost, true)) throw AbortedError("the machine went away");
  }
};
TEST_F(AsyncSaves, ARecoveryTakesOverWhatWasInFlight) {
  bool lost = false;
  MonitoredSession session{executor(), HookChain{LosesTheMachine{&lost}, hook(OnSaveFailure::warn)}};
  auto& background = session.hooks().at<1>().saver();
  background.wait();
  session.run();
  Gated::set(true, "the disk is full");
  session.run();  // the save of step 2 begins
  background.wait();
  Gated::set(true);
  session.run();  // the session is lost; the new one saves its first step
  EXPECT_TRUE(lost);
  background.wait();
  session.run();
  session.close();
  EXPECT_EQ(sink.lines(), (std::vector<std::string>{"the disk is full; step 2 is not saved, the run goes on"}));
  for (const std::int64_t step : saved)
    EXPECT_TRUE(std::filesystem::exists(saver().prefix_of(step).string() + ".index"));
  EXPECT_EQ(saved, (Steps{0, 3, 5}));
}

TEST_F(AsyncSaves, ANewSessionDoesNotTakeOverTheSaveOfOneThatFailed) {
  HookChain chain{hook()};
  {
    MonitoredSession<decltype(executor()), decltype(chain)&> session{executor(), chain};
    chain.at<0>().saver().wait();
    session.run();
    Gated::set(false, "disk full");
    session.run();
    session.fail(std::make_exception_ptr(NanLossError("x")));
    Gated::set(true, "disk full");
    chain.at<0>().saver().wait();
    Gated::set(true);
  }
  saved.clear();
  MonitoredSession<decltype(executor()), decltype(chain)&> session{executor(), chain};
  chain.at<0>().saver().wait();
  session.run();
  EXPECT_EQ(saved, Steps{0}) << "no listener gets the save of the session before";
  session.close();
  ASSERT_FALSE(sink.lines().empty());
  EXPECT_EQ(sink.lines()[0], "disk full; step 2 of the session before is not saved");
}

TEST_F(AsyncSaves, AnErrorThatNobodyAsksForIsReported) {
  static std::string heard;
  const DiagnosticSink before = set_diagnostic_sink([](std::string_view line) { heard = line; });
  Gated::set(true, "the disk is full");
  {
    AsyncSaver background{saver()};
    auto e = executor();
    RawSession<decltype(e)> raw{e, 1};
    background.save(raw, 1);
  }
  set_diagnostic_sink(before);
  EXPECT_EQ(heard, "the disk is full; step 1 is not saved");
}

TEST_F(AsyncSaves, TheResultIsThatOfTheLastSave) {
  static std::string heard;
  heard.clear();
  const DiagnosticSink before = set_diagnostic_sink([](std::string_view line) { heard = line; });
  AsyncSaver background{saver()};
  auto e = executor();
  RawSession<decltype(e)> raw{e, 1};
  Gated::set(true, "the disk is full");
  background.save(raw, 1);
  background.wait();
  Gated::set(true);
  background.save(raw, 2);
  set_diagnostic_sink(before);
  EXPECT_EQ(heard, "the disk is full; step 1 is not saved");
  EXPECT_EQ(background.result(), dir / "model.ckpt-2");
}

/// A saver in the manner of AsyncSaver whose save ends directly after a call of done().
struct EndsAfterDone {
  enum State { idle, writing, finished };
  struct Save {
    State state = idle;
    bool ends = false;
    Steps started{};
  };
  Save* last;
  void save(auto&, std::int64_t step) const { last->state = writing, last->started.push_back(step); }
  bool done() const {
    const State before = last->state;
    if (before == writing && last->ends) last->state = finished;
    return before == finished;
  }
  bool busy() const { return last->state == writing; }
  void wait() const {
    if (busy()) last->state = finished;
  }
  std::int64_t step() const { return last->started.back(); }
  std::filesystem::path result() const { return last->state = idle, std::to_string(step()); }
  static bool just_restored(std::int64_t) { return false; }
};

TEST_F(AsyncSaves, ASaveThatEndsDuringTheCallIsFinishedBeforeTheNext) {
  EndsAfterDone::Save last;
  MonitoredSession session{executor(),
                           HookChain{CheckpointSaver{EndsAfterDone{&last}, {.save_steps = 2}, Noted{&saved}}}};
  session.run();
  last.ends = true;
  session.run();
  EXPECT_EQ(last.started, (Steps{0, 2}));
  EXPECT_EQ(saved, Steps{0});
  session.close();
  EXPECT_EQ(saved, (Steps{0, 2}));
}

}  // namespace async_saver_test
}  // namespace crochet

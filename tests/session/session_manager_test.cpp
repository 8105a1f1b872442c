// SPDX-License-Identifier: Apache-2.0
// Scaffold, SessionManager and the two creators. The executor's variables have a value or are uninitialized.
#include <crochet/session/session_manager.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/testing/manual_clock.hpp>

namespace crochet {
namespace session_manager_test {

using crochet::testing::ManualClock;
using Names = std::vector<std::string>;

/// Two variables, "weight" and "step", each of which may be uninitialized. A run adds 1 to both.
class TwoVariables {
 public:
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"weight"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = double;
  template <class N>
  using fed_t = double;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = false;

  void initialize() { has_ = {true, true}, values_ = {}; }
  template <class D, class... F>
  void run(Workspace&, const F&...) {
    if (!variables_initialized()) throw UninitializedError("weight has no value");
    for (double& each : values_) each += 1;
  }
  template <class N>
  double fetch(Workspace&) const {
    return values_[0];
  }
  [[nodiscard]] std::int64_t global_step() const { return static_cast<std::int64_t>(values_[1]); }

  template <class Visit>
  void for_each_variable(Visit&& visit) {
    for (std::size_t i = 0; i < 2; ++i) {
      visit(names[i], std::span<double>{&values_[i], 1}, std::span<const std::int64_t>{});
      has_[i] = true;
    }
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    for (std::size_t i = 0; i < 2; ++i) {
      visit(names[i], std::span<const double>{&values_[i], 1}, std::span<const std::int64_t>{});
    }
  }
  [[nodiscard]] bool variables_initialized() const { return has_[0] && has_[1]; }
  [[nodiscard]] Names uninitialized_variables() const {
    Names missing;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!has_[i]) missing.emplace_back(names[i]);
    }
    return missing;
  }
  void lose() { has_ = {false, false}; }
  void set(std::size_t i, double value) { values_[i] = value, has_[i] = true; }

 private:
  static constexpr std::array<std::string_view, 2> names{"weight", "step"};
  std::array<double, 2> values_{};
  std::array<bool, 2> has_{};
};
static_assert(HasVariables<TwoVariables>);
using Session = RawSession<TwoVariables>;

/// Checkpoints in memory: each folder has a list of paths, the latest last; each path has a value.
struct MemorySaver {
  std::map<std::string, std::vector<std::string>> folders;
  std::map<std::string, std::map<std::string, double, std::less<>>> checkpoints;
  Names recovered;

  std::string latest_checkpoint(const std::string& folder) {
    return folders[folder].empty() ? std::string{} : folders[folder].back();
  }
  void save(Session& session, const std::string& folder) {
    const std::string path = folder + "/ckpt-" + std::to_string(session.step());
    std::as_const(session).executor().for_each_variable([&](std::string_view name, std::span<const double> value,
                                                            auto) { checkpoints[path][std::string(name)] = value[0]; });
    folders[folder].push_back(path);
  }
  void restore(Session& session, const std::string& path) {
    if (!checkpoints.contains(path)) throw IoError("no checkpoint " + path);
    session.executor().for_each_variable([&](std::string_view name, auto value, auto) {
      if constexpr (!std::is_same_v<decltype(value), std::span<const double>>) {
        value[0] = checkpoints[path].find(name)->second;
      }
    });
  }
  void recover_last_checkpoints(const std::string& folder) { recovered = folders[folder]; }
};
MemorySaver with_step_3_in(const std::string& folder) {
  TwoVariables executor;
  executor.set(0, 30), executor.set(1, 3);
  Session session{executor};
  MemorySaver saver;
  saver.save(session, folder);
  return saver;
}

class Managed : public ::testing::Test {
 protected:
  ManualClock clock_;
  WaitOptions waiting_{.clock = clock_};
  Coordinator coordinator_;
  TwoVariables executor_;
  Session session_{executor_};
  std::string calls_;

  auto noting(const char* what) {
    return [this, what](auto&) { calls_ += std::string(calls_.empty() ? "" : " ") + what; };
  }
  auto noting(const char* what, Names missing) {
    return [this, what, missing](auto&) {
      calls_ += std::string(calls_.empty() ? "" : " ") + what;
      return missing;
    };
  }
};

// ---- Scaffold

using ScaffoldTest = Managed;

TEST_F(ScaffoldTest, ByDefaultInitializesAndKnowsWhatIsMissing) {
  Scaffold scaffold;
  EXPECT_EQ(scaffold.missing(session_), (Names{"weight", "step"}));
  scaffold.initialize(session_);
  EXPECT_EQ(scaffold.missing(session_), Names{});
  EXPECT_EQ(scaffold.local_initialize(session_), Names{});
  static_assert(!decltype(scaffold)::has_saver);
}

TEST_F(ScaffoldTest, AnExecutorWithoutVariablesIsReady) {
  StepExecutor step{[](auto&) {}};
  RawSession raw{step};
  Scaffold scaffold;
  scaffold.initialize(raw);
  EXPECT_EQ(scaffold.missing(raw), Names{});
}

TEST_F(ScaffoldTest, AGivenPieceReplacesTheDefault) {
  auto scaffold = Scaffold{}.with_init(noting("init")).with_ready(noting("ready", {"a table"}));
  scaffold.initialize(session_);
  EXPECT_EQ(executor_.uninitialized_variables(), (Names{"weight", "step"}));  // initialize() was replaced
  EXPECT_EQ(scaffold.missing(session_), Names{"a table"});
  EXPECT_EQ(calls_, "init ready");
}

TEST_F(ScaffoldTest, InitFnComesAfterTheInitialization) {
  auto scaffold = Scaffold{}.with_init_fn([](auto& session) { session.executor().set(0, 7); });
  scaffold.initialize(session_);
  EXPECT_EQ(session_.run(fetches<"weight">)["weight"_n], 8);
}

TEST_F(ScaffoldTest, MadeFromAnotherOneItKeepsThatOnesPieces) {
  const auto base = Scaffold{}.with_init(noting("base init")).with_ready(noting("base ready", {}));
  auto derived = base.with_init(noting("own init"));
  derived.initialize(session_);
  (void)derived.missing(session_);
  EXPECT_EQ(calls_, "own init base ready");
  auto again = base;
  again.initialize(session_);
  EXPECT_EQ(calls_, "own init base ready base init");
}

TEST_F(ScaffoldTest, ACheckMayAnswerYesOrNoOrBeDeniedAVariable) {
  EXPECT_TRUE(Scaffold{}.with_ready([](auto&) { return true; }).missing(session_).empty());
  EXPECT_EQ(Scaffold{}.with_ready([](auto&) { return false; }).missing(session_), Names{"(the check says no)"});
  auto reads = Scaffold{}.with_ready([](auto& session) { return session.run(fetches<"weight">)["weight"_n] >= 0; });
  EXPECT_EQ(reads.missing(session_), Names{"weight has no value"});
  executor_.initialize();
  EXPECT_TRUE(reads.missing(session_).empty());
  auto fails = Scaffold{}.with_ready([](auto&) -> bool { throw FailedPreconditionError("something else"); });
  EXPECT_THROW((void)fails.missing(session_), FailedPreconditionError);
}

// ---- prepare_session

using Prepare = Managed;

TEST_F(Prepare, CallsThePiecesInTheirOrder) {
  SessionManager manager{Scaffold{}
                             .with_init(noting("init"))
                             .with_init_fn(noting("init_fn"))
                             .with_local_init(noting("local_init"))
                             .with_ready_for_local_init(noting("ready_for_local", {}))
                             .with_ready(noting("ready", {}))};
  manager.prepare_session(session_, coordinator_);
  EXPECT_EQ(calls_, "init init_fn ready_for_local local_init ready");
}

TEST_F(Prepare, RestoresTheLatestOfAFolderAndThenInitializesNothing) {
  MemorySaver saver = with_step_3_in("run");
  SessionManager manager{Scaffold{}
                             .with_init(noting("init"))
                             .with_init_fn(noting("init_fn"))
                             .with_local_init(noting("local_init"))
                             .with_saver(&saver)};
  manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run"});
  EXPECT_EQ(calls_, "local_init");  // after a restore, too
  EXPECT_EQ(session_.step(), 3);
  EXPECT_EQ(saver.recovered, Names{"run/ckpt-3"});
}

TEST_F(Prepare, RestoresAFileWithoutTheFoldersList) {
  MemorySaver saver = with_step_3_in("run");
  SessionManager manager{Scaffold{}.with_saver(&saver)};
  manager.prepare_session(session_, coordinator_, {.checkpoint_filename_with_path = "run/ckpt-3"});
  EXPECT_EQ(session_.step(), 3);
  EXPECT_EQ(saver.recovered, Names{});
}

TEST_F(Prepare, InitializesWhereThereIsNothingToRestore) {
  MemorySaver saver = with_step_3_in("elsewhere");
  SessionManager manager{Scaffold{}.with_saver(saver)};  // passed by value, too
  manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run"});
  EXPECT_EQ(session_.step(), 0);
  EXPECT_TRUE(executor_.variables_initialized());
  EXPECT_EQ(clock_(), 0);  // a chief does not wait for checkpoints
}

TEST_F(Prepare, FolderAndFileTogetherAreAnError) {
  SessionManager manager{Scaffold{}.with_saver(MemorySaver{})};
  EXPECT_THROW(
      manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "a", .checkpoint_filename_with_path = "b"}),
      LogicError);
}

TEST_F(Prepare, AFileThatIsNotThereIsAnError) {
  SessionManager manager{Scaffold{}.with_saver(MemorySaver{})};
  EXPECT_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_filename_with_path = "b"}), IoError);
}

/// Restores from folders only.
struct NoFiles {
  static bool restore_latest(Session& session, const std::string& folder) {
    session.executor().set(0, 7);
    return folder == "run";
  }
};

TEST_F(Prepare, ASaverMayRestoreFromFoldersOnly) {
  SessionManager manager{Scaffold{}.with_saver(NoFiles{}).with_ready([](auto&) { return true; })};
  EXPECT_NO_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run"}));
  EXPECT_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_filename_with_path = "b"}), LogicError);
}

TEST_F(Prepare, WhatIsStillMissingIsNamed) {
  SessionManager manager{Scaffold{}.with_init([](auto& session) { session.executor().set(0, 1); })};
  try {
    manager.prepare_session(session_, coordinator_);
    FAIL() << "prepare_session must throw";
  } catch (const FailedPreconditionError& error) {
    EXPECT_STREQ(error.what(), "crochet: the session is not ready after it was initialized or restored; missing: step");
  }
}

TEST_F(Prepare, ALocalInitializationThatMustNotRunIsAnError) {
  SessionManager manager{
      Scaffold{}.with_local_init(noting("local_init")).with_ready_for_local_init(noting("asked", {"a shard"}))};
  EXPECT_THROW(manager.prepare_session(session_, coordinator_), FailedPreconditionError);
  EXPECT_EQ(calls_, "asked");
}

/// A saver for one folder.
struct FolderSaver {
  MemorySaver* saver;
  std::string folder;
  [[nodiscard]] const std::string& directory() const { return folder; }
  bool restore_latest(Session& session) {
    const std::string latest = saver->latest_checkpoint(folder);
    if (!latest.empty()) saver->restore(session, latest);
    return !latest.empty();
  }
  void restore(Session& session, const std::string& path) { saver->restore(session, path); }
};

TEST_F(Prepare, ASaverWithAFolderOfItsOwnRestoresFromThere) {
  MemorySaver saver = with_step_3_in("run");
  SessionManager manager{Scaffold{}.with_saver(FolderSaver{&saver, "run"})};
  manager.prepare_session(session_, coordinator_);
  EXPECT_EQ(session_.step(), 3);
  EXPECT_NO_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run"}));
  EXPECT_NO_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run/"}));
  EXPECT_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "elsewhere"}), LogicError);
}

/// The same with a path.
struct PathSaver {
  MemorySaver* saver;
  std::filesystem::path folder;
  [[nodiscard]] const std::filesystem::path& directory() const { return folder; }
  bool restore_latest(Session& session) {
    saver->restore(session, saver->latest_checkpoint("run"));
    return true;
  }
  void restore(Session& session, const std::string& path) { saver->restore(session, path); }
};

TEST_F(Prepare, OneFolderHasSeveralSpellings) {
  MemorySaver saver = with_step_3_in("run");
  for (const char* own : {"run", "run/", "./run"}) {
    SessionManager manager{Scaffold{}.with_saver(PathSaver{&saver, own})};
    for (const char* same : {"run", "run/", "./run", "other/../run"}) {
      EXPECT_NO_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = same})) << own << ' ' << same;
    }
    EXPECT_THROW(manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "elsewhere"}), LogicError);
  }
}

TEST_F(Prepare, MayWaitForACheckpoint) {
  MemorySaver saver;
  int looks = 0;
  struct Appearing {
    MemorySaver* saver;
    int* looks;
    bool restore_latest(Session& session, const std::string& folder) {
      if (++*looks == 4) *saver = with_step_3_in(folder);
      if (saver->folders[folder].empty()) return false;
      saver->restore(session, saver->latest_checkpoint(folder));
      return true;
    }
    void restore(Session&, const std::string&) {}
  };
  SessionManager manager{Scaffold{}.with_saver(Appearing{&saver, &looks}), waiting_};
  manager.prepare_session(session_, coordinator_, {.checkpoint_dir = "run", .wait_for_checkpoint = true});
  EXPECT_EQ(session_.step(), 3);
  EXPECT_EQ(clock_(), 3 * 30);
}

TEST_F(Prepare, AndInitializesWhenNoneCame) {
  SessionManager manager{Scaffold{}.with_saver(MemorySaver{}), waiting_};
  manager.prepare_session(session_, coordinator_,
                          {.checkpoint_dir = "run", .wait_for_checkpoint = true, .max_wait_secs = 100});
  EXPECT_EQ(session_.step(), 0);
  EXPECT_EQ(clock_(), 120);  // polls every 30 seconds
}

// ---- recover_session

using Recover = Managed;

TEST_F(Recover, NeverInitializes) {
  SessionManager manager{
      Scaffold{}.with_init(noting("init")).with_local_init(noting("local")).with_saver(MemorySaver{})};
  EXPECT_FALSE(manager.recover_session(session_, coordinator_, {.checkpoint_dir = "run"}));
  EXPECT_EQ(calls_, "");  // local_init did not run either: the variables are uninitialized
}

TEST_F(Recover, IsTrueWhenRestoredAndReady) {
  MemorySaver saver = with_step_3_in("run");
  SessionManager manager{Scaffold{}.with_saver(&saver)};
  EXPECT_TRUE(manager.recover_session(session_, coordinator_, {.checkpoint_dir = "run"}));
  EXPECT_TRUE(manager.recover_session(session_, coordinator_, {.checkpoint_filename_with_path = "run/ckpt-3"}));
}

TEST_F(Recover, IsFalseWhenRestoredAndNotReady) {
  DiagnosticSink before =
      set_diagnostic_sink([](std::string_view line) { EXPECT_EQ(line, "crochet: restored, but not ready: a table"); });
  MemorySaver saver = with_step_3_in("run");
  SessionManager manager{Scaffold{}.with_saver(&saver).with_ready(noting("ready", {"a table"}))};
  EXPECT_FALSE(manager.recover_session(session_, coordinator_, {.checkpoint_dir = "run"}));
  EXPECT_EQ(calls_, "ready");
  set_diagnostic_sink(before);
}

// ---- wait_for_session

/// A clock that calls a function at a given time.
struct Eventful : ManualClock {
  double at = 0;
  std::function<void()> happens;
  void sleep(double seconds) {
    advance(seconds);
    if ((*this)() >= at && happens) std::exchange(happens, nullptr)();
  }
};

using Wait = Managed;

TEST_F(Wait, ReturnsOnceSomebodyElseHasInitialized) {
  Eventful clock;
  clock.at = 80;
  clock.happens = [&] { executor_.initialize(); };
  SessionManager manager{Scaffold{}.with_local_init(noting("local_init")), {.clock = clock}};
  manager.wait_for_session(session_, coordinator_);
  EXPECT_EQ(clock(), 90);
  EXPECT_EQ(calls_, "local_init");  // local_init runs only when the variables have values
}

TEST_F(Wait, GivesUpWhenTheNextLookWouldBeTooLate) {
  SessionManager manager{Scaffold{}, waiting_};
  try {
    manager.wait_for_session(session_, coordinator_, 100);
    FAIL() << "wait_for_session must throw";
  } catch (const DeadlineExceededError& error) {
    EXPECT_STREQ(error.what(), "crochet: the session was not ready in time; missing: weight, step");
  }
  EXPECT_EQ(clock_(), 90);
  EXPECT_THROW(manager.wait_for_session(session_, coordinator_, 29), DeadlineExceededError);
  EXPECT_EQ(clock_(), 90);  // one attempt
}

TEST_F(Wait, LooksAsOftenAsItIsTold) {
  waiting_.recovery_wait_secs = 0.5;
  SessionManager manager{Scaffold{}, waiting_};
  EXPECT_THROW(manager.wait_for_session(session_, coordinator_, 2), DeadlineExceededError);
  EXPECT_EQ(clock_(), 2);
}

TEST_F(Wait, EndsWhenTheCoordinatorIsAskedToStop) {
  Eventful clock;
  clock.at = 60;
  clock.happens = [&] { coordinator_.request_stop("enough"); };
  SessionManager manager{Scaffold{}, {.clock = clock}};
  EXPECT_THROW(manager.wait_for_session(session_, coordinator_), CancelledError);
  EXPECT_EQ(clock(), 60);
}

// ---- Creators

/// Loses its variables and throws in run number `fails`.
struct Losing : TwoVariables {
  int runs = 0, fails = 0;
  template <class D, class... F>
  void run(Workspace& workspace, const F&... fed) {
    if (++runs == fails) {
      lose();
      throw AbortedError("machine gone");
    }
    TwoVariables::run<D>(workspace, fed...);
  }
};
/// Saves after each run.
struct SavesAlways {
  MemorySaver* saver;
  void after_run(auto& run, const auto&) {
    TwoVariables& variables = run.session().executor();
    Session session{variables};
    saver->save(session, "run");
  }
};
struct SaverOfLosing {
  MemorySaver* saver;
  std::string latest_checkpoint(const std::string& folder) { return saver->latest_checkpoint(folder); }
  void restore(auto& session, const std::string& path) {
    TwoVariables& variables = session.executor();
    Session inner{variables};
    saver->restore(inner, path);
  }
};

TEST(ChiefSessionCreatorTest, ALostSessionContinuesFromTheLastCheckpoint) {  // S9
  MemorySaver saver;
  ManualClock clock;
  Losing executor;
  executor.fails = 3;
  MonitoredSession session{executor, HookChain{SavesAlways{&saver}},
                           ChiefSessionCreator{Scaffold{}.with_saver(SaverOfLosing{&saver}), {.checkpoint_dir = "run"}},
                           SessionOptions{.clock = clock}};
  session.run("train"_n);
  session.run("train"_n);
  EXPECT_EQ(session.run(fetches<"weight">, "train"_n)["weight"_n], 3);
  EXPECT_EQ(session.step(), 3);
  EXPECT_EQ(session.recoveries(), 1);
  session.close();
}

TEST(ChiefSessionCreatorTest, WithoutACheckpointItBeginsAgain) {  // S7
  ManualClock clock;
  Losing executor;
  executor.fails = 3;
  MonitoredSession session{executor, HookChain{}, ChiefSessionCreator{}, SessionOptions{.clock = clock}};
  session.run("train"_n);
  session.run("train"_n);
  EXPECT_EQ(session.run(fetches<"weight">, "train"_n)["weight"_n], 1);
  session.close();
}

TEST(ChiefSessionCreatorTest, APreemptionWhileInitializingIsTriedAgain) {  // S6
  ManualClock clock;
  int calls = 0;
  auto flaky = [&](auto&) {
    if (++calls == 1) throw AbortedError("x");
  };
  MonitoredSession session{TwoVariables{}, HookChain{}, ChiefSessionCreator{Scaffold{}.with_init_fn(flaky)},
                           SessionOptions{.clock = clock}};
  EXPECT_EQ(calls, 2);
  session.close();
}

TEST(ChiefSessionCreatorTest, WhatIsMissingLeavesTheConstructor) {
  const auto nothing = [](auto&) {};
  EXPECT_THROW((MonitoredSession{TwoVariables{}, HookChain{}, ChiefSessionCreator{Scaffold{}.with_init(nothing)}}),
               FailedPreconditionError);
}

TEST(WorkerSessionCreatorTest, WaitsForWhatItSharesWithTheChief) {
  TwoVariables shared;
  Eventful clock;
  clock.at = 45;
  clock.happens = [&] { shared.initialize(); };
  MonitoredSession<TwoVariables&, HookChain<>, WorkerSessionCreator<>> session{
      shared, HookChain{}, WorkerSessionCreator{Scaffold{}, 1800, {.clock = clock}}};
  EXPECT_EQ(clock(), 60);
  session.run("train"_n);
  session.close();
}

TEST(WorkerSessionCreatorTest, GivesUpAfterItsTime) {
  ManualClock clock;
  EXPECT_THROW(
      (MonitoredSession{TwoVariables{}, HookChain{}, WorkerSessionCreator{Scaffold{}, 1800, {.clock = clock}}}),
      DeadlineExceededError);
  EXPECT_EQ(clock(), 1800);
}

}  // namespace session_manager_test
}  // namespace crochet

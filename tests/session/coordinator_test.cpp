// SPDX-License-Identifier: Apache-2.0
// The coordinator on its own, its threads, and how both end the loop of a session. Threads wait for events of the test,
// never for time to pass. Grace periods use a clock that the test moves.
#include <crochet/session/coordinator.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/threads.hpp>
#include <crochet/testing/manual_clock.hpp>

namespace crochet {
namespace coordinator_test {

using crochet::testing::ManualClock;

template <class Error>
std::exception_ptr made(Error error) {
  return std::make_exception_ptr(std::move(error));
}

// ---- Requests

TEST(Coordinator, KeepsTheFirstReason) {
  Coordinator coordinator;
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "");
  coordinator.request_stop("first", "reader");
  coordinator.request_stop("second", "writer");
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "first");
  EXPECT_EQ(coordinator.who(), "reader");
}

TEST(Coordinator, KeepsTheFirstErrorAndThrowsIt) {
  Coordinator coordinator;
  EXPECT_NO_THROW(coordinator.raise_requested_exception());
  coordinator.request_stop(made(DataError("first")));
  coordinator.request_stop(made(IoError("second")));
  EXPECT_THROW(coordinator.raise_requested_exception(), DataError);
  EXPECT_THROW(coordinator.join(), DataError);
}

TEST(Coordinator, AnErrorAfterAStopWithoutOneIsKept) {  // the original drops it
  Coordinator coordinator;
  coordinator.request_stop("enough");
  coordinator.request_stop(made(DataError("lost the last file")));
  EXPECT_EQ(coordinator.reason(), "enough");
  EXPECT_THROW(coordinator.join(), DataError);
}

TEST(Coordinator, AnAnonymousStopIsTheFirstRequestAlsoIfAnErrorFollows) {
  Coordinator coordinator;
  EXPECT_FALSE(coordinator.error_came_first());
  coordinator.request_stop();
  coordinator.request_stop(made(DataError("later")), "reader");
  EXPECT_FALSE(coordinator.error_came_first());
  EXPECT_EQ(coordinator.who(), "");
  coordinator.clear_stop();
  coordinator.request_stop(made(DataError("first")), "reader");
  coordinator.request_stop();
  EXPECT_TRUE(coordinator.error_came_first());
  EXPECT_EQ(coordinator.who(), "reader");
}

TEST(Coordinator, TheReasonIsACopyThatOutlivesWhatFollows) {
  Coordinator coordinator;
  coordinator.request_stop("a reason that is too long for the string's own room", "a name that is too long for it");
  const auto reason = coordinator.reason(), who = coordinator.who();
  static_assert(std::is_same_v<decltype(reason), const std::string>);
  coordinator.clear_stop();
  coordinator.request_stop("another reason that is too long for the string's room", "another name, as long as that");
  EXPECT_EQ(reason, "a reason that is too long for the string's own room");
  EXPECT_EQ(who, "a name that is too long for it");
}

TEST(Coordinator, TheEndOfTheDataStopsAndIsNoError) {
  Coordinator coordinator;
  coordinator.request_stop(made(OutOfRangeError{}));
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_NO_THROW(coordinator.join());
}

TEST(Coordinator, WhichErrorsAreNoneIsTheOwnersChoice) {
  Coordinator strict{nullptr};
  strict.request_stop(made(OutOfRangeError{}));
  EXPECT_THROW(strict.join(), OutOfRangeError);

  Coordinator lenient{&is_any_of<PreemptionError, DataError>};
  lenient.request_stop(made(UnavailableError("a derived class")));
  EXPECT_TRUE(lenient.should_stop());
  EXPECT_NO_THROW(lenient.join());
}

TEST(Coordinator, OnceJoinedAnErrorIsThrownWhereItIsReported) {
  Coordinator coordinator;
  coordinator.request_stop();
  coordinator.join();
  EXPECT_TRUE(coordinator.joined());
  EXPECT_THROW(coordinator.request_stop(made(DataError("late"))), DataError);
  coordinator.clear_stop();
  EXPECT_FALSE(coordinator.joined());
  EXPECT_NO_THROW(coordinator.request_stop(made(DataError("stored again"))));
  EXPECT_THROW(coordinator.join(), DataError);
}

TEST(Coordinator, ClearStopForgetsTheErrorAndASecondRoundHasItsOwn) {
  Coordinator coordinator;
  start_thread(coordinator, "one", [] { throw DataError("first round"); });
  EXPECT_THROW(coordinator.join(), DataError);
  coordinator.clear_stop();
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_EQ(coordinator.error(), nullptr);
  start_thread(coordinator, "two", [] { throw IoError("second round"); });
  EXPECT_THROW(coordinator.join(), IoError);
}

TEST(Coordinator, StopOnExceptionTakesWhatTheBodyThrows) {
  Coordinator coordinator;
  EXPECT_NO_THROW(coordinator.stop_on_exception([] {}));
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_NO_THROW(coordinator.stop_on_exception([] { throw 42; }));  // no std::exception
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_THROW(coordinator.join(), int);
}

TEST(Coordinator, WaitForStopGivesUpAfterItsTime) {
  ManualClock clock;
  Coordinator coordinator;
  EXPECT_FALSE(coordinator.wait_for_stop(5, clock));
  EXPECT_EQ(clock(), 5);
  coordinator.request_stop();
  EXPECT_TRUE(coordinator.wait_for_stop(5, clock));
  EXPECT_EQ(clock(), 5);
}

TEST(Coordinator, AStopSetByAThreadIsSeenByWhoWaits) {
  Coordinator coordinator;
  start_thread(coordinator, "asks", [&] { coordinator.request_stop("from a thread"); });
  EXPECT_TRUE(coordinator.wait_for_stop());
  coordinator.join();
  EXPECT_EQ(coordinator.reason(), "from a thread");
}

// ---- Threads

/// A thread function that returns after a stop is requested.
void until_stopped(const std::stop_token& stop, std::atomic<int>& ended) {
  std::promise<void> told;
  std::stop_callback tell{stop, [&] { told.set_value(); }};
  told.get_future().wait();
  ++ended;
}

TEST(Coordinator, AStopReachesEveryThreadsToken) {
  std::atomic<int> ended = 0;
  Coordinator coordinator;
  for (int i = 0; i < 3; ++i) {
    start_thread(coordinator, "waits", [&](const std::stop_token& stop) { until_stopped(stop, ended); });
  }
  EXPECT_EQ(ended, 0);
  coordinator.request_stop();
  coordinator.join();
  EXPECT_EQ(ended, 3);
}

TEST(Coordinator, AThreadStartedAfterTheStopIsToldAtOnce) {
  std::atomic<int> ended = 0;
  Coordinator coordinator;
  coordinator.request_stop();
  start_thread(coordinator, "late", [&](const std::stop_token& stop) { until_stopped(stop, ended); });
  coordinator.join();
  EXPECT_EQ(ended, 1);
}

TEST(Coordinator, JoinWaitsForThreadsThatEndByThemselves) {
  std::atomic<int> ended = 0;
  Coordinator coordinator;
  for (int i = 0; i < 3; ++i) start_thread(coordinator, "ends", [&] { ++ended; });
  coordinator.join();
  EXPECT_EQ(ended, 3);
  EXPECT_FALSE(coordinator.should_stop());  // join requests no stop
}

/// Holds a thread, even after a stop, until the test sets `let_go`.
struct Held {
  std::promise<void> let_go;
  std::shared_future<void> gone = let_go.get_future().share();
};

TEST(Coordinator, ThreadsThatOutliveTheGracePeriodAreNamed) {
  for (const double grace : {1e-10, 2e-3, 1.0, 120.0}) {
    Held held;
    ManualClock clock;
    Coordinator coordinator;
    start_thread(coordinator, "reader", [&, gone = held.gone] { gone.wait(); });
    start_thread(coordinator, "writer", [&, gone = held.gone] { gone.wait(); });
    coordinator.request_stop();
    try {
      coordinator.join(grace, false, clock);
      ADD_FAILURE() << "join must throw";
    } catch (const DeadlineExceededError& error) {
      EXPECT_STREQ(error.what(), "crochet: threads still running after the grace period: reader, writer");
    }
    EXPECT_NEAR(clock(), grace, 1e-9);
    held.let_go.set_value();
  }
}

std::string said;

TEST(Coordinator, OrOnlySaidToBeRunning) {
  DiagnosticSink before = set_diagnostic_sink([](std::string_view line) { said += line; });
  said.clear();
  Held held;
  ManualClock clock;
  {
    Coordinator coordinator;
    start_thread(coordinator, "reader", [gone = held.gone] { gone.wait(); });
    coordinator.request_stop();
    EXPECT_NO_THROW(coordinator.join(1, true, clock));
    EXPECT_EQ(said, "crochet: threads still running after the grace period: reader");
    held.let_go.set_value();
  }
  set_diagnostic_sink(before);
}

TEST(Coordinator, AStoredErrorGoesBeforeThreadsThatAreLate) {
  Held held;
  ManualClock clock;
  Coordinator coordinator;
  start_thread(coordinator, "reader", [gone = held.gone] { gone.wait(); });
  coordinator.request_stop(made(DataError("stored")));
  EXPECT_THROW(coordinator.join(1, false, clock), DataError);
  held.let_go.set_value();
}

TEST(Coordinator, AnErrorOfAThreadThatIsLateIsSaid) {
  static std::mutex mutex;
  static std::string said;
  const DiagnosticSink before = set_diagnostic_sink([](std::string_view line) {
    const std::lock_guard lock(mutex);
    said += line;
  });
  std::promise<void> let_go;
  {
    Coordinator coordinator;
    start_thread(coordinator, "late", [&] {
      let_go.get_future().wait();
      throw DataError("could not flush");
    });
    coordinator.request_stop();
    ManualClock clock;
    coordinator.join(1, true, clock);  // as close() of a session does
    let_go.set_value();
  }
  set_diagnostic_sink(before);
  EXPECT_NE(said.find("the thread late"), std::string::npos) << said;
  EXPECT_NE(said.find("could not flush"), std::string::npos) << said;
}

/// A body whose move number `left` throws.
struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int& moves) : left(moves) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : left(other.left) {
    if (--left == 0) throw std::runtime_error("moved");
  }
  void operator()(const std::stop_token&) const {}

  int& left;
};

TEST(Coordinator, DoesNotWaitForAThreadThatDidNotStart) {
  bool threw = true;
  for (int moves = 1; threw; ++moves) {
    Coordinator coordinator;
    int left = moves;
    try {
      start_thread(coordinator, "never", ThrowsWhenMoved{left});
      threw = false;
    } catch (const std::runtime_error&) {
    }
    coordinator.request_stop();
    EXPECT_NO_THROW(coordinator.join(threw ? 0 : 120)) << moves;
  }
}

TEST(Coordinator, IsDestroyedOnlyWhenItsThreadsHaveEnded) {
  std::atomic<int> ended = 0;
  {
    Coordinator coordinator;
    start_thread(coordinator, "waits", [&](const std::stop_token& stop) { until_stopped(stop, ended); });
  }
  EXPECT_EQ(ended, 1);
}

TEST(LooperThread, CallsAtOnceAndThenOnAFixedSchedule) {
  ManualClock clock;  // only the looper's thread uses it until join()
  Coordinator coordinator;
  std::vector<double> called;
  const auto target = [&] {
    called.push_back(clock());
    clock.advance(called.size() == 2 ? 7 : 1);  // the second call takes longer than an interval
    if (called.size() == 6) coordinator.request_stop();
  };
  start_looper_thread(coordinator, "looper", target, {.interval_secs = 5, .clock = clock});
  coordinator.join();
  EXPECT_EQ(called, (std::vector<double>{0, 5, 12, 15, 20, 25}));
}

struct CountsItsPhases {
  std::string* text;
  Coordinator* coordinator;
  int runs = 0;
  void start_loop() { *text += "start "; }
  void run_loop() {
    *text += "run ";
    if (++runs == 3) coordinator->request_stop();
  }
  void stop_loop() { *text += "stop"; }
};

TEST(LooperThread, StartsRunsAndStopsAnObject) {
  std::string text;
  Coordinator coordinator;
  start_looper_thread(coordinator, "looper", CountsItsPhases{&text, &coordinator});
  coordinator.join();
  EXPECT_EQ(text, "start run run run stop");
}

TEST(LooperThread, AnErrorEndsItAndIsTheCoordinators) {
  Coordinator coordinator;
  start_looper_thread(coordinator, "looper", [] { throw DataError("bad file"); });
  EXPECT_THROW(coordinator.join(), DataError);
  EXPECT_EQ(coordinator.who(), "looper");
}

// ---- In a session

/// Requests a stop of the session's loop from a thread.
struct StopFromAThread {
  void after_create_session(auto&, Coordinator& coordinator) {
    start_thread(coordinator, "watcher", [&coordinator] { coordinator.request_stop("from a thread", "watcher"); });
  }
};

TEST(Coordinator, EndsTheLoopOfASessionFromAnotherThread) {
  MonitoredSession session{StepExecutor{[](auto&) {}}, HookChain{StopFromAThread{}}};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
    s.run();  // a stop of the coordinator ends the loop; one more run is allowed
  });
  EXPECT_EQ(to_string(session.stop_reason()), "watcher: from a thread");
}

/// A hook whose thread reports an error during the third run.
struct FailsInItsThread {
  std::promise<void>* third;
  std::promise<void>* reported;
  void after_create_session(auto&, Coordinator& coordinator) {
    start_thread(coordinator, "reader", [this, &coordinator] {
      third->get_future().wait();
      coordinator.request_stop(made(DataError("damaged record")), "reader");
      reported->set_value();
    });
  }
  void after_run(auto& run, const auto&) {
    if (run.step() != 3) return;
    third->set_value();
    reported->get_future().wait();
  }
};

TEST(Coordinator, AnErrorOfAThreadReachesTheLoopWithinOneStep) {
  std::promise<void> third, reported;
  MonitoredSession session{StepExecutor{[](auto&) {}}, HookChain{FailsInItsThread{&third, &reported}}};
  EXPECT_THROW(run_session(session,
                           [](auto& s) {
                             while (!s.should_stop()) s.run();
                           }),
               DataError);
  EXPECT_EQ(session.step(), 3);
  EXPECT_EQ(to_string(session.stop_reason()), "reader: damaged record");
}

/// A hook that starts a thread. The threads of a lost session have ended when the next one is created.
struct StartsAThread {
  std::atomic<int>* ended;
  std::vector<int>* ended_before;
  void after_create_session(auto&, Coordinator& coordinator) {
    ended_before->push_back(*ended);
    start_thread(coordinator, "waits", [this](const std::stop_token& stop) { until_stopped(stop, *ended); });
  }
};

TEST(Coordinator, ThreadsEndBeforeTheSessionIsCreatedAnewAndWhenItIsClosed) {
  std::atomic<int> ended = 0;
  std::vector<int> ended_before;
  ManualClock clock;
  int runs = 0;
  StepExecutor step{[&](auto&) {
    if (++runs == 2) throw AbortedError("x");
  }};
  MonitoredSession session{step, HookChain{StartsAThread{&ended, &ended_before}},
                           SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  session.run();
  session.run();
  EXPECT_EQ(ended_before, (std::vector{0, 1}));
  EXPECT_FALSE(session.should_stop());
  session.close();
  EXPECT_EQ(ended, 2);
}

TEST(Coordinator, AThreadThatIsLateAtCloseIsNamedAndDoesNotHoldItUp) {
  DiagnosticSink before = set_diagnostic_sink([](std::string_view line) { said += line; });
  said.clear();
  Held held;
  ManualClock clock;
  MonitoredSession session{StepExecutor{[](auto&) {}}, HookChain{},
                           SessionOptions{.stop_grace_period_secs = 3, .clock = clock}};
  start_thread(session.coordinator(), "stubborn", [gone = held.gone] { gone.wait(); });
  EXPECT_NO_THROW(session.close());
  EXPECT_DOUBLE_EQ(clock(), 3);
  EXPECT_EQ(said, "crochet: threads still running after the grace period: stubborn");
  held.let_go.set_value();
  set_diagnostic_sink(before);
}

TEST(Coordinator, AThreadThatIsLateInARecoveryIsNamedAndDoesNotHoldItUp) {
  DiagnosticSink before = set_diagnostic_sink([](std::string_view line) { said += line; });
  said.clear();
  Held held;
  ManualClock clock;
  int runs = 0;
  StepExecutor step{[&](auto&) {
    if (++runs == 1) throw AbortedError("x");
  }};
  MonitoredSession session{
      step, HookChain{},
      SessionOptions{.stop_grace_period_secs = 3, .recovery = {.initial_backoff_secs = 0}, .clock = clock}};
  start_thread(session.coordinator(), "stubborn", [gone = held.gone] { gone.wait(); });
  session.run();
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_DOUBLE_EQ(clock(), 3);
  EXPECT_NE(said.find("crochet: threads still running after the grace period: stubborn"), std::string::npos) << said;
  EXPECT_FALSE(session.should_stop());
  held.let_go.set_value();
  session.close();
  set_diagnostic_sink(before);
}

/// A hook with a thread in each session. Keeps the stop token of the last one.
struct KeepsTheToken {
  std::stop_token* kept;
  void after_create_session(auto&, Coordinator& coordinator) {
    std::promise<std::stop_token> token;
    auto received = token.get_future();
    start_thread(coordinator, "waits", [&token](std::stop_token stop) { token.set_value(std::move(stop)); });
    *kept = received.get();
  }
};

TEST(Coordinator, AThreadOfARecoveredSessionHasNoRequestToStop) {
  DiagnosticSink before = set_diagnostic_sink([](std::string_view) {});
  std::stop_token token;
  int runs = 0;
  StepExecutor step{[&](auto&) {
    if (++runs == 1) throw AbortedError("x");
  }};
  MonitoredSession session{step, HookChain{KeepsTheToken{&token}},
                           SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  session.run();
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_FALSE(token.stop_requested());
  session.close();
  set_diagnostic_sink(before);
}

}  // namespace coordinator_test
}  // namespace crochet

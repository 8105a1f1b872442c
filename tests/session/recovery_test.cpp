// SPDX-License-Identifier: Apache-2.0
// Recovery of lost sessions: the reference traces of the original's recovering session, with deliberate differences.
// mk#n, run#n, cl#n: the n-th session is created, run, closed.
#include <crochet/session/run_session.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <crochet/session/threads.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "recorder.hpp"

namespace crochet {
namespace recovery_test {

using crochet::testing::ManualClock;

/// A TracedExecutor that numbers its sessions.
class Numbered {
 public:
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"answer"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = int;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = false;

  explicit Numbered(Trace& trace) : trace_(&trace) {}
  /// Calls a function in that run, counted from 1 over all sessions. The function may throw.
  Numbered doing_in_run(int run, std::function<void()> what) && {
    runs_[run] = std::move(what);
    return std::move(*this);
  }
  Numbered doing_in_creation(int creation, std::function<void()> what) && {
    creations_[creation] = std::move(what);
    return std::move(*this);
  }

  void initialize() {
    ++session_;
    if (auto found = creations_.find(session_); found != creations_.end()) {
      trace_->add("fail");
      found->second();
    }
    trace_->add(numbered("mk"));
  }
  void close() { trace_->add(numbered("cl")); }
  template <class D, class... F>
  void run(Workspace&, const F&...) {
    trace_->add(numbered("run"));
    if (auto found = runs_.find(++run_); found != runs_.end()) found->second();
  }
  template <class N>
  int fetch(Workspace&) const {
    return 100 * session_ + run_;
  }

 private:
  [[nodiscard]] std::string numbered(const char* what) const { return what + ("#" + std::to_string(session_)); }

  Trace* trace_;
  std::map<int, std::function<void()>> runs_, creations_;
  int run_ = 0;
  int session_ = 0;
};

template <class Error>
std::function<void()> throwing(Error error) {
  return [error] { throw error; };
}

/// Captures the library's diagnostics: the output stays clean, and tests can check the lines.
class Said : public ::testing::Test {
 protected:
  Said() : before_(set_diagnostic_sink([](std::string_view line) { lines().emplace_back(line); })) { lines().clear(); }
  ~Said() override { set_diagnostic_sink(before_); }
  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }
  ManualClock clock_;
  SessionOptions options_{.clock = clock_};
  Trace trace_;
  HookChain<Recorder<'a'>, Recorder<'b'>> two_{Recorder<'a'>{trace_}, Recorder<'b'>{trace_}};

 private:
  DiagnosticSink before_;
};
using Recovery = Said;

TEST_F(Recovery, ALostRunIsRepeatedOnANewSession) {  // T4
  MonitoredSession session{Numbered{trace_}.doing_in_run(2, throwing(AbortedError("peer restarted"))), two_, options_};
  int answer = 0;
  run_session(session, [&](auto& s) {
    s.run("train"_n);
    answer = s.run(fetches<"answer">, "train"_n)["answer"_n];
  });
  EXPECT_EQ(trace_.text,
            "a.B b.B mk#1 a.C b.C a.b b.b run#1 a.a b.a a.b b.b run#1 cl#1 mk#2 a.C b.C a.b b.b run#2 a.a b.a "
            "a.E(1) b.E(1) cl#2");
  EXPECT_EQ(answer, 203);
  EXPECT_EQ(session.recoveries(), 1);
  ASSERT_EQ(lines().size(), 2u);  // a recovery is always reported
  EXPECT_EQ(lines()[0],
            "crochet: the session was lost at step 1 and is created anew (attempt 1 of 10): peer restarted");
  EXPECT_EQ(lines()[1], "crochet: the session goes on at step 0; steps lost: 1");
}

TEST_F(Recovery, AnExecutorIsClosedAlsoWithASessionThatIsNot) {
  { MonitoredSession session{Numbered{trace_}, two_, options_}; }
  EXPECT_EQ(trace_.text, "a.B b.B mk#1 a.C b.C cl#1");
}

TEST_F(Recovery, AnAfterRunThatIsLostIsRepeatedFromTheFirstHook) {  // T5
  HookChain three{Recorder<'a'>{trace_}, Recorder<'b'>{trace_}.throwing('a', UnavailableError("b")),
                  Recorder<'c'>{trace_}};
  MonitoredSession session{Numbered{trace_}, three, options_};
  trace_.text.clear();
  session.run("train"_n);
  EXPECT_EQ(trace_.text, "a.b b.b c.b run#1 a.a b.a cl#1 mk#2 a.C b.C c.C a.b b.b c.b run#2 a.a b.a c.a");
  session.close();
}

/// Requests a stop once, in its first after_run.
struct AsksOnce {
  bool requested = false;
  void after_run(auto& run, const auto&) {
    if (!requested) run.request_stop("seen enough");
    requested = true;
  }
};

TEST_F(Recovery, AStopRequestSurvivesRecovery) {  // T6; the original loses it
  HookChain chain{AsksOnce{}, Recorder<'b'>{trace_}.throwing('a', AbortedError("b"))};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  session.run("train"_n);
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.stop_reason().reason, "seen enough");
  session.close();
}

TEST_F(Recovery, AStepFunctionIsRepeatedAlsoIfAStopWasRequestedInTheRunThatWasLost) {
  HookChain chain{AsksOnce{}, Recorder<'b'>{trace_}.throwing('a', AbortedError("b"))};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  const int answer = session.run_step_fn(
      [](auto& step) { return static_cast<int>(step.run_with_hooks(fetches<"answer">, "train"_n)["answer"_n]); });
  EXPECT_EQ(answer, 202);
  EXPECT_TRUE(session.should_stop());
  session.close();
}

TEST_F(Recovery, AStepFunctionIsRepeatedAlsoIfTheRunThatStoppedTheSessionWasNotTheOneThatWasLost) {
  MonitoredSession session{Numbered{trace_}.doing_in_run(2, throwing(AbortedError("x"))),
                           HookChain{AsksOnce{}, Recorder<'b'>{trace_}}, options_};
  int calls = 0;
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      s.run_step_fn([&](auto& step) {
        ++calls;
        step.run_with_hooks("train"_n);
        step.session().run("train"_n);
      });
    }
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(session.stop_reason().hook, "AsksOnce");
  EXPECT_NE(trace_.text.find("b.E("), std::string::npos) << trace_.text;
}

TEST_F(Recovery, AStopByTheCallerIsLatchedWhenTheStepFunctionWasRepeated) {
  MonitoredSession session{Numbered{trace_}, two_, options_};
  int calls = 0;
  session.run_step_fn([&](auto& step) {
    if (++calls == 3) return;
    step.run_with_hooks("train"_n);
    session.request_stop("enough");
    throw AbortedError("x");
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(session.recoveries(), 2);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(to_string(session.stop_reason()), "the caller: enough");
  session.close();
}

TEST_F(Recovery, AStopOfTheCoordinatorSurvivesRecovery) {
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("x"))), two_, options_};
  session.coordinator().request_stop("time is up", "the scheduler");
  session.run("train"_n);
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(to_string(session.stop_reason()), "the scheduler: time is up");
  EXPECT_EQ(clock_(), 0);  // the stop ended the pause before the attempt
  session.close();
}

TEST_F(Recovery, AStopThatCameAfterAThreadsErrorSurvivesItToo) {
  MonitoredSession session{Numbered{trace_}, two_, options_};
  session.coordinator().request_stop(std::make_exception_ptr(AbortedError("peer restarted")), "reader");
  session.coordinator().request_stop("time is up", "the scheduler");
  EXPECT_EQ(session.coordinator().who(), "reader");
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(to_string(session.stop_reason()), "the scheduler: time is up");
  session.close();
}

TEST_F(Recovery, WhoAskedFirstIsNotBlamedForAThreadsError) {
  MonitoredSession session{Numbered{trace_}, two_, options_};
  session.coordinator().request_stop("time is up", "the scheduler");
  session.coordinator().request_stop(std::make_exception_ptr(DataError("damaged")), "reader");
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(to_string(session.stop_reason()), "the scheduler: time is up");
  EXPECT_THROW(session.close(), DataError);
}

struct WithThread {
  Trace* trace;
  void after_create_session(auto&, Coordinator& coordinator) {
    start_thread(coordinator, "reader", [trace = trace, &coordinator] {
      coordinator.wait_for_stop();
      trace->add("thread");
    });
  }
};
TEST_F(Recovery, ThreadsOfACreationThatFailsEndBeforeTheExecutorIsClosed) {
  HookChain hooks{WithThread{&trace_}, Recorder<'b'>{trace_}.throwing('C', OutOfRangeError{})};
  EXPECT_THROW((MonitoredSession{Numbered{trace_}, hooks}), OutOfRangeError);
  EXPECT_EQ(trace_.text, "b.B mk#1 b.C thread cl#1");
}

TEST_F(Recovery, ACreationThatIsLostHalfWayIsClosedAndRepeated) {  // T8; the original does not close session 1
  HookChain three{Recorder<'a'>{trace_}, Recorder<'b'>{trace_}.throwing('C', AbortedError("b")), Recorder<'c'>{trace_}};
  MonitoredSession session{Numbered{trace_}, three, options_};
  EXPECT_EQ(trace_.text, "a.B b.B c.B mk#1 a.C b.C cl#1 mk#2 a.C b.C c.C");
  session.close();
}

/// Calls a function in the second after_create_session, then throws.
struct Starter {
  std::function<void(Coordinator&)> start;
  int created = 0;
  void after_create_session(auto&, Coordinator& coordinator) {
    if (++created < 2) return;
    start(coordinator);
    throw DataError("the second session");
  }
  void on_error(std::exception_ptr error) { last = detail::what_of(error); }
  std::string last{};
};

TEST_F(Recovery, ACreationThatFailsOtherwiseInARecoveryIsClosedAtOnce) {  // the original closes nothing
  std::atomic<bool> ended = false;
  const auto starts_a_thread = [&](Coordinator& coordinator) {
    start_thread(coordinator, "reader", [&ended](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      ended = true;
    });
  };
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("gone"))),
                           HookChain{Starter{starts_a_thread}},
                           SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  trace_.text.clear();
  EXPECT_THROW(session.run("train"_n), DataError);
  EXPECT_EQ(trace_.text, "run#1 cl#1 mk#2 cl#2");  // before close()
  EXPECT_TRUE(ended);                              // its threads are joined too
  EXPECT_TRUE(session.should_stop());
  EXPECT_FALSE(session.closed());
  session.close();
  EXPECT_EQ(trace_.text, "run#1 cl#1 mk#2 cl#2");
  EXPECT_EQ(session.hooks().template get<Starter>().last, "the second session");
}

/// Throws in the second after_create_session.
template <class Error>
struct ThrowsInTheSecondCreation {
  int created = 0;
  void after_create_session(auto&, auto&) {
    if (++created == 2) throw Error("of the second creation");
  }
};

TEST_F(Recovery, TheEndOfDataInARecoveryIsAnError) {  // as in the first creation; the original ends without one
  const auto run_it = [&](auto hook) {
    HookChain hooks{Recorder<'a'>{trace_}, hook};
    MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("gone"))), hooks, options_};
    trace_.text.clear();
    run_session(session, [](auto& s) { s.run("train"_n); });
  };
  EXPECT_THROW(run_it(ThrowsInTheSecondCreation<OutOfRangeError>{}), OutOfRangeError);
  EXPECT_EQ(trace_.text, "a.b run#1 cl#1 mk#2 a.C cl#2 a.X");
  EXPECT_THROW(run_it(ThrowsInTheSecondCreation<StopIteration>{}), StopIteration);
  EXPECT_EQ(trace_.text, "a.b run#1 cl#1 mk#2 a.C cl#2 a.X");
}

TEST_F(Recovery, TheEndOfDataBehindALossIsAnErrorToo) {
  HookChain hooks{Recorder<'a'>{trace_}, ThrowsInTheSecondCreation<IoError>{}};
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("gone"))), hooks, options_};
  trace_.text.clear();
  const auto ends_behind_the_loss = [](auto& s) {
    EXPECT_THROW(s.run("train"_n), IoError);
    EXPECT_TRUE(s.lost());
    throw OutOfRangeError{};
  };
  EXPECT_THROW(run_session(session, ends_behind_the_loss), OutOfRangeError);
  EXPECT_EQ(trace_.text, "a.b run#1 cl#1 mk#2 a.C cl#2 a.X");
  EXPECT_FALSE(session.lost()) << "it is closed";
}

TEST_F(Recovery, ACreationThatFailsOtherwiseLeavesTheConstructorAndIsClosed) {  // T9; the original closes nothing
  HookChain three{Recorder<'a'>{trace_}, Recorder<'b'>{trace_}.throwing('C', OutOfRangeError{}), Recorder<'c'>{trace_}};
  EXPECT_THROW((MonitoredSession{Numbered{trace_}, three, options_}), OutOfRangeError);
  EXPECT_EQ(trace_.text, "a.B b.B c.B mk#1 a.C b.C cl#1");
  EXPECT_EQ(lines().size(), 0u);  // no warning of a missing close(): there was no session yet
}

TEST_F(Recovery, AThreadsErrorEndsTheLoopAndLeavesFromClose) {  // T14
  MonitoredSession session{Numbered{trace_}, two_, options_};
  trace_.text.clear();
  try {
    run_session(session, [](auto& s) {
      s.coordinator().request_stop(std::make_exception_ptr(std::runtime_error("thread")), "reader");
      EXPECT_TRUE(s.should_stop());
      s.run("train"_n);
    });
    FAIL() << "close must throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "thread");
  }
  EXPECT_EQ(trace_.text, "a.b b.b run#1 a.a b.a a.E(1) b.E(1) cl#1");
  EXPECT_EQ(lines().back(), "crochet: stopped at step 1 by reader: thread");
}

TEST_F(Recovery, AnAnonymousStopBeforeAThreadsErrorIsTheReason) {
  MonitoredSession session{Numbered{trace_}, two_, options_};
  session.coordinator().request_stop();
  session.coordinator().request_stop(std::make_exception_ptr(std::runtime_error("while it ended")), "reader");
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(to_string(session.stop_reason()), "the coordinator");
  EXPECT_THROW(session.close(), std::runtime_error);  // the error is not lost
}

TEST_F(Recovery, ASingularSessionThrowsAThreadsErrorFromShouldStop) {  // T15
  SingularMonitoredSession session{Numbered{trace_}, two_, options_};
  trace_.text.clear();
  EXPECT_THROW(run_session(session,
                           [](auto& s) {
                             s.coordinator().request_stop(std::make_exception_ptr(std::runtime_error("thread")));
                             (void)s.should_stop();
                             ADD_FAILURE() << "should_stop must throw";
                           }),
               std::runtime_error);
  EXPECT_EQ(trace_.text, "a.X b.X cl#1");
}

TEST_F(Recovery, AThreadsPreemptionIsRecoveredFromInShouldStop) {  // T16
  MonitoredSession session{Numbered{trace_}, HookChain{Recorder<'a'>{trace_}}, options_};
  trace_.text.clear();
  session.coordinator().request_stop(std::make_exception_ptr(AbortedError("peer")));
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(trace_.text, "cl#1 mk#2 a.C");
  EXPECT_FALSE(session.coordinator().should_stop());
  session.close();
}

TEST_F(Recovery, AThreadsErrorThatNoSessionCuresLeavesTheRunThatIsLost) {  // T17
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("x"))), HookChain{}, options_};
  trace_.text.clear();
  session.coordinator().request_stop(std::make_exception_ptr(std::runtime_error("thread")));
  EXPECT_THROW(session.run("train"_n), std::runtime_error);
  EXPECT_EQ(trace_.text, "run#1 cl#1");
  EXPECT_TRUE(session.should_stop());
  EXPECT_THROW(session.run("train"_n), LogicError);  // the original creates a second session here, without a message
  EXPECT_THROW(session.run(no_hooks, "train"_n), LogicError);
  session.fail(nullptr);
  EXPECT_EQ(trace_.text, "run#1 cl#1");
}

TEST_F(Recovery, CreationIsTriedAgainAfterEachPreemptionWithAPause) {  // T18; the original does not pause
  MonitoredSession session{Numbered{trace_}
                               .doing_in_creation(1, throwing(AbortedError("1")))
                               .doing_in_creation(2, throwing(UnavailableError("2"))),
                           HookChain{Recorder<'a'>{trace_}}, options_};
  EXPECT_EQ(trace_.text, "a.B fail cl#1 fail cl#2 mk#3 a.C");
  EXPECT_DOUBLE_EQ(clock_(), 0.1 + 0.2);
  session.close();
}

TEST_F(Recovery, AStepFunctionIsRepeatedWithTheNewSession) {  // T19; the original passes the closed session again
  MonitoredSession session{Numbered{trace_}, HookChain{Recorder<'a'>{trace_}}, options_};
  trace_.text.clear();
  std::vector<int> creations;
  const int answer = session.run_step_fn([&](auto& context) {
    creations.push_back(context.session().creation());
    if (creations.size() == 1) throw AbortedError("x");
    return context.run_with_hooks(fetches<"answer">)["answer"_n];
  });
  EXPECT_EQ(trace_.text, "cl#1 mk#2 a.C a.b run#2 a.a");
  EXPECT_EQ(answer, 201);
  EXPECT_EQ(creations, (std::vector{1, 2}));
  session.close();
}

TEST_F(Recovery, TheErrorOfTheBodyIsNotReplacedByThatOfAThread) {  // T20; the original replaces it
  MonitoredSession session{Numbered{trace_}, HookChain{Recorder<'a'>{trace_}}, options_};
  trace_.text.clear();
  try {
    run_session(session, [](auto& s) {
      s.coordinator().request_stop(std::make_exception_ptr(std::runtime_error("thread")));
      throw DataError("body");
    });
    FAIL() << "must throw";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "body");
    EXPECT_EQ(detail::what_of(error.nested()), "thread");
  }
  EXPECT_EQ(trace_.text, "a.X cl#1");
}

// ---- Precedence of two errors

/// A run that throws one error after a "thread" reported another.
template <class Reported, class Thrown>
std::function<void()> both(Coordinator*& coordinator, Reported reported, Thrown thrown) {
  return [&coordinator, reported, thrown] {
    coordinator->request_stop(std::make_exception_ptr(reported));
    throw thrown;
  };
}
/// Stores the coordinator's address before the session exists.
struct Finds {
  Coordinator** found;
  void after_create_session(auto&, Coordinator& coordinator) { *found = &coordinator; }
};

TEST_F(Recovery, APreemptionThatAThreadReportedIsTheCauseOfWhateverElseFails) {
  Coordinator* coordinator = nullptr;
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, both(coordinator, AbortedError("peer"), OutOfRangeError{})),
                           HookChain{Finds{&coordinator}}, options_};
  session.run("train"_n);
  EXPECT_EQ(trace_.text, "mk#1 run#1 cl#1 mk#2 run#2");
  session.close();
}

TEST_F(Recovery, ASingularSessionThrowsThatCause) {
  Coordinator* coordinator = nullptr;
  SingularMonitoredSession session{
      Numbered{trace_}.doing_in_run(1, both(coordinator, AbortedError("peer"), std::runtime_error("x"))),
      HookChain{Finds{&coordinator}}, options_};
  EXPECT_THROW(session.run("train"_n), AbortedError);
  EXPECT_THROW(session.close(), AbortedError);
}

TEST_F(Recovery, AnyOtherErrorOfAThreadReplacesNothing) {
  Coordinator* coordinator = nullptr;
  MonitoredSession session{
      Numbered{trace_}.doing_in_run(1, both(coordinator, std::runtime_error("thread"), DataError("run"))),
      HookChain{Finds{&coordinator}}, options_};
  EXPECT_THROW(session.run("train"_n), DataError);
  EXPECT_THROW(session.close(), std::runtime_error);
}

TEST_F(Recovery, APreemptionReportedWhenTheSessionIsClosedAnywayIsOnlySaid) {
  MonitoredSession session{Numbered{trace_}, HookChain{}, options_};
  session.coordinator().request_stop(std::make_exception_ptr(AbortedError("peer")));
  EXPECT_NO_THROW(session.close());
  EXPECT_EQ(lines().back(), "crochet: while the session was closed: peer");
}

// ---- Bounds

TEST_F(Recovery, IsGivenUpAfterTheLastAttemptWithTheLastCause) {
  int failures = 0;
  HookChain chain{Recorder<'a'>{trace_}.throwing('b', AbortedError("again"), 1000)};
  options_.recovery = {.max_attempts = 3, .initial_backoff_secs = 1, .multiplier = 10, .max_backoff_secs = 50};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  trace_.text.clear();
  try {
    run_session(session, [](auto& s) { s.run("train"_n); });
  } catch (const AbortedError& error) {
    ++failures;
    EXPECT_STREQ(error.what(), "again");
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(trace_.text, "a.b cl#1 mk#2 a.C a.b cl#2 mk#3 a.C a.b cl#3 mk#4 a.C a.b cl#4 a.X");
  EXPECT_DOUBLE_EQ(clock_(), 1 + 10 + 50);
  EXPECT_EQ(lines().back(), "crochet: the session was lost and is given up after 3 attempts: again");
}

TEST_F(Recovery, ADeadlineBoundsItToo) {
  HookChain chain{Recorder<'a'>{trace_}.throwing('b', AbortedError("again"), 1000)};
  options_.recovery = {.max_attempts = 1000, .initial_backoff_secs = 10, .multiplier = 1, .deadline_secs = 35};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  EXPECT_THROW(session.run("train"_n), AbortedError);
  EXPECT_EQ(session.recoveries(), 3);  // at 10, 20 and 30 seconds after the first failure; not at 40
  EXPECT_EQ(clock_(), 30);
  session.fail(nullptr);
}

TEST_F(Recovery, TheDeadlineCountsFromTheFirstFailure) {
  clock_.advance(1000);
  HookChain chain{Recorder<'a'>{trace_}.throwing('b', AbortedError("again"), 1000)};
  options_.recovery = {.max_attempts = 1000, .initial_backoff_secs = 10, .multiplier = 1, .deadline_secs = 30};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  clock_.advance(1000);
  EXPECT_THROW(session.run("train"_n), AbortedError);
  EXPECT_EQ(session.recoveries(), 3) << "the last one at 30 seconds, which is not too late";
  EXPECT_EQ(clock_(), 2030);
  session.fail(nullptr);
}

TEST_F(Recovery, ASessionThatStaysLostHasNoGoodEnd) {  // end() of a saver would save the state after the failure
  HookChain chain{Recorder<'a'>{trace_}};
  options_.recovery.max_attempts = 0;
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("device gone"))), chain, options_};
  trace_.text.clear();
  EXPECT_THROW(session.run("train"_n), AbortedError);
  session.close();
  EXPECT_EQ(trace_.text, "a.b run#1 cl#1 a.X");
  EXPECT_TRUE(session.closed());
  EXPECT_EQ(lines().back(), "crochet: the session was lost, so hooks see on_error() and not end(): device gone");
}

TEST_F(Recovery, ProgressMakesTheCountBeginAgain) {
  HookChain chain{Recorder<'a'>{trace_}};
  options_.recovery.max_attempts = 1;
  Numbered executor = Numbered{trace_}
                          .doing_in_run(2, throwing(AbortedError("1")))
                          .doing_in_run(6, throwing(AbortedError("2")))
                          .doing_in_run(8, throwing(AbortedError("3")));
  MonitoredSession session{std::move(executor), chain, options_};
  session.run("train"_n);  // run 1; after initialization the step is 0
  session.run("train"_n);  // run 2 is lost at step 1, run 3
  session.run("train"_n);
  session.run("train"_n);                              // run 5: step 3
  EXPECT_NO_THROW(session.run("train"_n));             // run 6 is lost at step 3, the highest so far; run 7
  EXPECT_THROW(session.run("train"_n), AbortedError);  // run 8 is lost at step 1: no progress, so no recovery
  session.fail(nullptr);
}

TEST_F(Recovery, TheSameStepAgainIsNoProgress) {
  HookChain chain{Recorder<'a'>{trace_}};
  options_.recovery.max_attempts = 1;
  Numbered executor =
      Numbered{trace_}.doing_in_run(2, throwing(AbortedError("1"))).doing_in_run(4, throwing(AbortedError("2")));
  MonitoredSession session{std::move(executor), chain, options_};
  session.run("train"_n);
  session.run("train"_n);                              // run 2 is lost at step 1, run 3
  EXPECT_THROW(session.run("train"_n), AbortedError);  // run 4 is lost at step 1 as well
  session.fail(nullptr);
}

TEST_F(Recovery, AStepThatAFailedRunHasCountedIsNoProgress) {
  int calls = 0;
  options_.recovery = {.max_attempts = 2, .initial_backoff_secs = 1};
  HookChain chain{Recorder<'a'>{trace_}.throwing('a', AbortedError("gone"), 1000)};
  MonitoredSession session{StepExecutor{[&](auto&) { ++calls; }}, chain, options_};  // it is not initialized again
  EXPECT_THROW(run_session(session, [](auto& s) { s.run(); }), AbortedError);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(lines().back(), "crochet: the session was lost and is given up after 2 attempts: gone");
}

TEST_F(Recovery, OptionsAreNumbersThatAreNotNegative) {
  for (const RecoveryOptions bad :
       {RecoveryOptions{.max_attempts = -1}, RecoveryOptions{.initial_backoff_secs = -1},
        RecoveryOptions{.initial_backoff_secs = std::nan("")}, RecoveryOptions{.multiplier = -1},
        RecoveryOptions{.multiplier = std::nan("")}, RecoveryOptions{.max_backoff_secs = -1},
        RecoveryOptions{.max_backoff_secs = std::nan("")}, RecoveryOptions{.deadline_secs = -1},
        RecoveryOptions{.deadline_secs = std::nan("")}}) {
    options_.recovery = bad;
    EXPECT_THROW((MonitoredSession{Numbered{trace_}, two_, options_}), LogicError);
  }
  options_.recovery = {
      .max_attempts = 0, .initial_backoff_secs = 0, .multiplier = 0, .max_backoff_secs = 0, .deadline_secs = 0};
  EXPECT_NO_THROW((MonitoredSession{Numbered{trace_}, two_, options_}));
}

// ---- Hooks and retries

struct Attempts {
  std::vector<int>* seen;
  void before_run(auto& run) { seen->push_back(run.attempt()); }
};

TEST_F(Recovery, AHookIsToldOfARetry) {
  std::vector<int> attempts;
  MonitoredSession session{
      Numbered{trace_}.doing_in_run(2, throwing(AbortedError("x"))).doing_in_run(3, throwing(AbortedError("x"))),
      HookChain{Attempts{&attempts}}, options_};
  for (int i = 0; i < 3; ++i) session.run("train"_n);
  EXPECT_EQ(attempts, (std::vector{1, 1, 2, 3, 1}));
  session.close();
}

TEST_F(Recovery, AlsoWhenItWasTheCallerWhoCaughtTheError) {
  std::vector<int> attempts;
  SingularMonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(std::runtime_error("x"))),
                                   HookChain{Attempts{&attempts}}, options_};
  EXPECT_THROW(session.run("train"_n), std::runtime_error);
  session.run("train"_n);
  session.run("train"_n);
  EXPECT_EQ(attempts, (std::vector{1, 2, 1}));
  session.close();
}

// ---- Step functions

TEST_F(Recovery, AStepFunctionAsksForAStop) {  // P2, P10
  MonitoredSession session{Numbered{trace_}, HookChain{Recorder<'a'>{trace_}}, options_};
  run_session(session, [](auto& s) {
    s.run_step_fn([](auto& context) { context.request_stop("that will do"); });
    ADD_FAILURE() << "not reached";
  });
  EXPECT_EQ(trace_.text, "a.B mk#1 a.C a.E(0) cl#1");
  EXPECT_EQ(to_string(session.stop_reason()), "the step function: that will do");
}

TEST_F(Recovery, WithoutAScopeTheSessionStopsTooAfterAStepFunctionAsked) {  // P3; in the original it does not stop
  MonitoredSession session{Numbered{trace_}, HookChain{}, options_};
  EXPECT_THROW(session.run_step_fn([](auto& context) { context.request_stop(); }), StopIteration);
  EXPECT_TRUE(session.should_stop());
  session.close();
}

TEST_F(Recovery, AStepFunctionIsRepeatedAsAWhole) {  // P12
  HookChain chain{Recorder<'a'>{trace_}};
  MonitoredSession session{Numbered{trace_}, chain, options_};
  trace_.text.clear();
  int calls = 0;
  const std::string value = session.run_step_fn([&](auto& context) {
    context.session().run("train"_n);
    context.run_with_hooks("train"_n);
    if (++calls == 1) throw AbortedError("after the run");
    return std::string("value");
  });
  EXPECT_EQ(value, "value");
  EXPECT_EQ(trace_.text, "run#1 a.b run#1 a.a cl#1 mk#2 a.C run#2 a.b run#2 a.a");
  session.close();
}

TEST_F(Recovery, ASingularSessionRepeatsNoStepFunction) {  // P13
  SingularMonitoredSession session{Numbered{trace_}, HookChain{Recorder<'a'>{trace_}}, options_};
  int calls = 0;
  EXPECT_THROW(session.run_step_fn([&](auto&) {
    ++calls;
    throw AbortedError("x");
  }),
               AbortedError);
  EXPECT_EQ(calls, 1);
  session.close();
}

TEST_F(Recovery, AStepFunctionIsNotCalledAgainForAnErrorThatOnlyItsHookedRunSaw) {
  MonitoredSession session{Numbered{trace_}.doing_in_run(1, throwing(AbortedError("caught"))),
                           HookChain{Recorder<'a'>{trace_}}, options_};
  trace_.text.clear();
  session.run_step_fn([&](auto& context) {
    EXPECT_THROW(context.run_with_hooks("train"_n), AbortedError);  // run_with_hooks does not recover
  });
  EXPECT_EQ(trace_.text, "a.b run#1");
  session.close();
}

TEST_F(Recovery, TheCallersOwnRequestEndsTheLoop) {
  MonitoredSession session{Numbered{trace_}, HookChain{}, options_};
  session.request_stop("the user pressed a key");
  EXPECT_TRUE(session.should_stop());
  session.close();
  EXPECT_EQ(to_string(session.stop_reason()), "the caller: the user pressed a key");
  EXPECT_EQ(lines().back(), "crochet: stopped at step 0 by the caller: the user pressed a key");
}

/// A session creator.
struct Restoring {
  int* created;
  template <class E>
  void create_session(RawSession<E>& session, Coordinator&) {
    ++*created;
    session.set_step(40);
  }
};

TEST_F(Recovery, ACreatorDecidesWhatANewSessionStartsWith) {
  int created = 0;
  MonitoredSession session{Numbered{trace_}.doing_in_run(2, throwing(AbortedError("x"))), two_, Restoring{&created},
                           options_};
  EXPECT_EQ(session.step(), 40);
  session.run("train"_n);
  EXPECT_EQ(session.step(), 41);
  session.run("train"_n);  // back to step 40, then one run
  EXPECT_EQ(session.step(), 41);
  EXPECT_EQ(created, 2);
  session.close();
}

}  // namespace recovery_test
}  // namespace crochet

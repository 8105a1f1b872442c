// SPDX-License-Identifier: Apache-2.0
#include <crochet/session/run_session.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include <crochet/executor/step/step_executor.hpp>

#include "recorder.hpp"

namespace crochet {
namespace run_session_test {

TEST(RunSession, ErrorsOfTheBodyItselfCountAsErrorsOfARun) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  EXPECT_THROW(run_session(session, [](auto&) { throw std::logic_error("body"); }), std::logic_error);
  EXPECT_EQ(trace.text, "a.B mk a.C a.X");
}

TEST(RunSession, StopIterationIsACleanEnd) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  EXPECT_NO_THROW(run_session(session, [](auto&) { throw StopIteration{}; }));
  EXPECT_EQ(trace.text, "a.B mk a.C a.E(0)");
}

TEST(RunSession, ACleanEndStatesItsReason) {
  Trace trace;
  const auto reason_of = [&](auto body) {
    MonitoredSession session{TracedExecutor{trace}, HookChain{}};
    run_session(session, body);
    return session.stop_reason().hook + ": " + session.stop_reason().reason;
  };
  EXPECT_EQ(reason_of([](auto&) { throw StopIteration{"enough"}; }), "the loop: enough");
  EXPECT_EQ(reason_of([](auto&) { throw OutOfRangeError{"3 batches"}; }), "the data: 3 batches");
}

struct StopAt {
  std::int64_t last = 0;
  void after_run(auto& run, const auto&) {
    if (run.step() >= last) run.request_stop("enough");
  }
};

TEST(Run, GoesOnUntilAHookStops) {
  int steps = 0;
  StepExecutor step{[&](auto&) { ++steps; }};
  const StopReason why = run(step, HookChain{StopAt{.last = 5}});
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(why.reason, "enough");
  EXPECT_EQ(why.hook, "StopAt");
}

struct Count {
  int runs = 0;
  void after_run(auto&, const auto&) { ++runs; }
};

TEST(Run, BorrowsAChainThatIsAnLvalue) {
  HookChain chain{Count{}, StopAt{.last = 3}};
  StepExecutor step{[](auto&) {}};
  run(step, chain);
  EXPECT_EQ(chain.get<Count>().runs, 3);
}

TEST(Run, FeedsWhatNextGivesUntilItThrowsOrIsEmpty) {
  double sum = 0;
  StepExecutor step{[&](auto& out) { sum += out.input("x"_n, 0.0); }, input<double, "x">};
  int left = 3;
  auto throwing = [&] {
    if (left-- == 0) throw OutOfRangeError{};
    return feed<"x">(2.0);
  };
  run(step, HookChain{StopAt{.last = 100}}, throwing);
  EXPECT_EQ(sum, 6.0);

  left = 4;
  auto optional = [&]() -> std::optional<decltype(feed<"x">(2.0))> {
    if (left-- == 0) return std::nullopt;
    return feed<"x">(2.0);
  };
  const StopReason why = run(step, HookChain{StopAt{.last = 100}}, optional);
  EXPECT_EQ(sum, 14.0);
  EXPECT_EQ(to_string(why), "the data: came to its end");
}

struct Model {};
struct Device {
  Trace* trace;
  template <class M>
  TracedExecutor compile() {
    static_assert(std::is_same_v<M, Model>);
    return TracedExecutor{*trace};
  }
};

TEST(Train, CompilesTheModelAndRunsItsTargetTrain) {
  Trace trace;
  const StopReason why = train<Model>(
      Device{&trace}, [] { return RunArgs{}; }, HookChain{StopAt{.last = 2}});
  EXPECT_EQ(trace.text, "mk run run");
  EXPECT_EQ(why.reason, "enough");
}

/// Closes the session of its run.
struct ClosesInItsRun {
  void* session;
  void (*close)(void*);
  int* ends;
  void after_run(auto& run, const auto&) {
    run.request_stop("done");
    close(session);
  }
  void end(auto&) { ++*ends; }
};
struct ClosesInItsEnd {
  void** session;
  void (*close)(void*);
  int* ends;
  void after_run(auto& run, const auto&) { run.request_stop("done"); }
  void end(auto&) {
    if (++*ends < 10) close(*session);
  }
};

TEST(RunSession, ASessionThatAHookClosesInTheRunThatStopsItEndsOnce) {
  int ends = 0;
  void* opened = nullptr;
  HookChain chain{ClosesInItsRun{nullptr, nullptr, &ends}};
  StepExecutor step{[](auto&) {}};
  MonitoredSession session{step, chain};
  using Session = decltype(session);
  opened = &session;
  auto& hook = session.hooks().template get<ClosesInItsRun>();
  hook.session = opened;
  hook.close = [](void* s) { static_cast<Session*>(s)->close(); };
  run_session(session, [](auto& s) { s.run(); });
  EXPECT_EQ(ends, 1);
  EXPECT_TRUE(session.closed());
  EXPECT_EQ(session.stop_reason().reason, "done");
}

TEST(RunSession, CloseInAnEndHasNoEffect) {
  int ends = 0;
  void* opened = nullptr;
  HookChain chain{ClosesInItsEnd{&opened, nullptr, &ends}};
  StepExecutor step{[](auto&) {}};
  MonitoredSession session{step, chain};
  using Session = decltype(session);
  opened = &session;
  session.hooks().template get<ClosesInItsEnd>().close = [](void* s) { static_cast<Session*>(s)->close(); };
  run_session(session, [](auto& s) { s.run(); });
  EXPECT_EQ(ends, 1);
}

/// Reads data that have come to their end.
struct ReadsInItsEnd {
  void end(auto&) { throw OutOfRangeError{}; }
};

TEST(RunSession, TheEndOfDataInAnEndIsAnErrorAlsoIfTheBodyClosesTheSession) {
  Trace trace;
  MonitoredSession closed_behind{TracedExecutor{trace}, HookChain{ReadsInItsEnd{}}};
  EXPECT_THROW(run_session(closed_behind, [](auto&) {}), OutOfRangeError);
  MonitoredSession closed_inside{TracedExecutor{trace}, HookChain{ReadsInItsEnd{}}};
  EXPECT_THROW(run_session(closed_inside, [](auto& s) { s.close(); }), OutOfRangeError);
  EXPECT_TRUE(closed_inside.closed());
}

}  // namespace run_session_test
}  // namespace crochet

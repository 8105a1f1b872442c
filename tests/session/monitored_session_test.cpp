// SPDX-License-Identifier: Apache-2.0
// The order of calls: the reference traces of the original's sessions, with deliberate differences.
#include <crochet/session/monitored_session.hpp>

#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/phase_log.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/side_session.hpp>

#include "recorder.hpp"

namespace crochet {
namespace monitored_session_test {

/// Runs the session `runs` times within run_session.
template <class Session>
void run_times(Session& session, int runs) {
  run_session(session, [runs](auto& s) {
    for (int i = 0; i < runs; ++i) s.run("train"_n);
  });
}

TEST(MonitoredSession, TwoRuns) {  // T1
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}, Recorder<'b'>{trace}}};
  run_times(session, 2);
  EXPECT_EQ(trace.text, "a.B b.B mk a.C b.C a.b b.b run a.a b.a a.b b.b run a.a b.a a.E(2) b.E(2)");
  EXPECT_TRUE(session.closed());
}

TEST(MonitoredSession, AnErrorOfARunReachesTheCallerAndEveryOnErrorButNoEnd) {  // T2
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}.throwing_in_run(2, std::runtime_error("broken")),
                           HookChain{Recorder<'a'>{trace}, Recorder<'b'>{trace}}};
  EXPECT_THROW(run_times(session, 2), std::runtime_error);
  EXPECT_EQ(trace.text, "a.B b.B mk a.C b.C a.b b.b run a.a b.a a.b b.b run a.X b.X");
  EXPECT_EQ(session.step(), 1);
  EXPECT_TRUE(session.closed());
}

TEST(MonitoredSession, TheEndOfTheDataIsACleanEnd) {  // T3
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}.throwing_in_run(2, OutOfRangeError{}),
                           HookChain{Recorder<'a'>{trace}, Recorder<'b'>{trace}}};
  EXPECT_NO_THROW(run_times(session, 9));
  EXPECT_EQ(trace.text, "a.B b.B mk a.C b.C a.b b.b run a.a b.a a.b b.b run a.E(1) b.E(1)");
}

TEST(MonitoredSession, AnErrorInBeginLeavesTheConstructor) {  // T7
  Trace trace;
  HookChain chain{Recorder<'a'>{trace}, Recorder<'b'>{trace}.throwing('B', std::runtime_error("no")),
                  Recorder<'c'>{trace}};
  EXPECT_THROW((MonitoredSession{TracedExecutor{trace}, chain}), std::runtime_error);
  EXPECT_EQ(trace.text, "a.B b.B");
}

TEST(MonitoredSession, EvenACleanErrorInAfterCreateSessionLeavesTheConstructor) {  // T9
  Trace trace;
  HookChain chain{Recorder<'a'>{trace}, Recorder<'b'>{trace}.throwing('C', OutOfRangeError{}), Recorder<'c'>{trace}};
  EXPECT_THROW((MonitoredSession{TracedExecutor{trace}, chain}), OutOfRangeError);
  EXPECT_EQ(trace.text, "a.B b.B c.B mk a.C b.C");
}

TEST(MonitoredSession, AnErrorCaughtInTheLoopLeavesTheSessionUsable) {  // T10
  Trace trace;
  MonitoredSession session{
      TracedExecutor{trace},
      HookChain{Recorder<'a'>{trace}, Recorder<'b'>{trace}.throwing('b', std::invalid_argument("x")),
                Recorder<'c'>{trace}}};
  run_session(session, [&](auto& s) {
    trace.text.clear();
    EXPECT_THROW(s.run("train"_n), std::invalid_argument);
    EXPECT_FALSE(s.should_stop());
    s.run("train"_n);
  });
  EXPECT_EQ(trace.text, "a.b b.b a.b b.b c.b run a.a b.a c.a a.E(1) b.E(1) c.E(1)");
}

TEST(MonitoredSession, EveryEndRunsAndTheFirstErrorLeaves) {  // T11; the original skips the remaining ends
  Trace trace;
  MonitoredSession session{TracedExecutor{trace},
                           HookChain{Recorder<'a'>{trace}, Recorder<'b'>{trace}.throwing('E', IoError("disk full")),
                                     Recorder<'c'>{trace}.throwing('E', std::runtime_error("second")),
                                     Recorder<'d'>{trace}.throwing('E', DataError("third"))}};
  try {
    run_times(session, 1);
    FAIL() << "close must throw";
  } catch (const IoError& first) {
    EXPECT_STREQ(first.what(), "disk full");
    ASSERT_NE(first.nested(), nullptr);
    EXPECT_EQ(detail::what_of(first.nested()), "second");
  }
  EXPECT_TRUE(trace.text.ends_with("a.E(1) b.E(1) c.E(1) d.E(1)"));
  EXPECT_TRUE(session.closed());
}

TEST(MonitoredSession, TheErrorsOfThreeEndsAreNestedInOrder) {
  Trace trace;
  MonitoredSession session{
      TracedExecutor{trace},
      HookChain{Recorder<'a'>{trace}.throwing('E', IoError("1")), Recorder<'b'>{trace}.throwing('E', DataError("2")),
                Recorder<'c'>{trace}.throwing('E', std::runtime_error("3"))}};
  try {
    session.close();
    FAIL() << "close must throw";
  } catch (const IoError& first) {
    try {
      std::rethrow_exception(first.nested());
    } catch (const DataError& second) {
      EXPECT_EQ(detail::what_of(second.nested()), "3");
    }
  }
}

/// Reports an error to the coordinator, and throws it in `end`, as one that joins its own threads does.
struct JoinsInEnd {
  using handles = Phases<phase::after_create_session, phase::end>;
  Coordinator* threads = nullptr;
  void after_create_session(auto& /*session*/, Coordinator& coordinator) { threads = &coordinator; }
  void end(auto& /*session*/) {
    threads->request_stop(std::make_exception_ptr(IoError("a thread")));
    threads->raise_requested_exception();
  }
};

TEST(MonitoredSession, AnErrorThatAHookAndAThreadReportIsNotNestedInItself) {
  StepExecutor step{[](auto&) {}};
  MonitoredSession session{step, HookChain{JoinsInEnd{}}};
  try {
    session.close();
    FAIL() << "close must throw";
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "a thread");
    EXPECT_EQ(error.nested(), nullptr);
  }
}

TEST(MonitoredSession, AFurtherErrorDoesNotReplaceANestedOne) {
  IoError nested("its own");
  nested.nest(std::make_exception_ptr(std::runtime_error("its cause")));
  const auto first = std::make_exception_ptr(IoError("first"));
  detail::nest_in(first, std::make_exception_ptr(DataError("second")));
  detail::nest_in(first, std::make_exception_ptr(nested));
  std::string all;
  const auto walk = [&](const auto& self, const std::exception_ptr& error) -> void {
    if (!error) return;
    all += detail::what_of(error) + "; ";
    try {
      std::rethrow_exception(error);
    } catch (const Error& ours) {
      self(self, ours.nested());
    } catch (const std::exception&) {
    }
  };
  walk(walk, first);
  EXPECT_EQ(all, "first; second; its own; its cause; ");
}

TEST(MonitoredSession, ClosingTwiceDoesNothingMore) {  // T12: the original calls every end(None) again, and throws
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  session.close();
  trace.text.clear();
  session.close();
  EXPECT_EQ(trace.text, "");
}

TEST(MonitoredSession, ABodyMayCloseItsSession) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  EXPECT_NO_THROW(run_session(session, [](auto& s) { s.close(); }));
  EXPECT_EQ(trace.text, "a.B mk a.C a.E(0)");
}

TEST(MonitoredSession, RunAfterCloseSaysSo) {  // T13: the original has no guard
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  session.close();
  trace.text.clear();
  try {
    session.run("train"_n);
    FAIL() << "run must throw";
  } catch (const LogicError& error) {
    EXPECT_STREQ(error.what(),
                 "crochet: run() of a session that is closed; run within run_session, or make another session");
  }
  EXPECT_THROW(session.run(no_hooks, "train"_n), LogicError);
  EXPECT_EQ(trace.text, "");
  EXPECT_TRUE(session.should_stop());
}

TEST(MonitoredSession, AStopIsLatchedWhenEveryHookHasSeenTheRun) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace},
                           HookChain{Recorder<'a'>{trace}.stopping('b'), Recorder<'b'>{trace}.stopping('a')}};
  trace.text.clear();
  EXPECT_FALSE(session.should_stop());
  session.run("train"_n);
  EXPECT_EQ(trace.text, "a.b b.b run a.a b.a");  // the run is not skipped after a request in before_run
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.stop_reason().reason, "before, says a");  // the first reason is kept
  EXPECT_EQ(session.stop_reason().hook, "Recorder<'a'>");
  try {
    session.run("train"_n);
    FAIL() << "run must throw";
  } catch (const LogicError& error) {
    EXPECT_NE(std::string(error.what()).find("has stopped (Recorder<'a'>: before, says a)"), std::string::npos)
        << error.what();
  }
  session.close();
}

TEST(MonitoredSession, AStopRequestedInARunThatFailsIsLatchedAtOnce) {  // T6; the original loses it
  Trace trace;
  SingularMonitoredSession session{
      TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}.stopping('a'),
                                       Recorder<'b'>{trace}.throwing('a', AbortedError("lost")), Recorder<'c'>{trace}}};
  EXPECT_THROW(session.run("train"_n), AbortedError);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(to_string(session.stop_reason()), "Recorder<'a'>: after, says a");
  trace.text.clear();
  EXPECT_THROW(session.run("train"_n), LogicError);  // the same as after a run that succeeded
  EXPECT_EQ(trace.text, "");
  session.close();
  EXPECT_EQ(trace.text, "a.E(1) b.E(1) c.E(1)");
}

TEST(MonitoredSession, AStopRequestedBeforeTheExecutorFailsEndsALoopThatGoesOnAfterErrors) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}.throwing_in_run(1, DataError("record 1")),
                           HookChain{Recorder<'a'>{trace}.stopping('b')}};
  int errors = 0;
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      try {
        s.run("train"_n);
      } catch (const DataError&) {
        ++errors;
      }
    }
  });
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(trace.text, "a.B mk a.C a.b run a.E(0)");
}

TEST(MonitoredSession, AStopRequestedInARunThatAStepFunctionCatchesIsLatched) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}.throwing_in_run(1, AbortedError("lost")),
                           HookChain{Recorder<'a'>{trace}.stopping('b')}};
  session.run_step_fn([](auto& step) { EXPECT_THROW(step.run_with_hooks("train"_n), AbortedError); });
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.recoveries(), 0);
  session.close();
}

TEST(MonitoredSession, ARunWithoutHooksLeavesTheValuesOfTheHookedRun) {
  Trace trace;
  MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
  auto [first] = session.run(fetches<"loss">);
  trace.text.clear();
  auto [aside] = session.run(no_hooks, fetches<"loss">);
  EXPECT_EQ(trace.text, "run");
  EXPECT_EQ(first, 1.0f);
  EXPECT_EQ(aside, 2.0f);
  EXPECT_EQ(session.step(), 1);
  EXPECT_EQ(session.executor().fetch<Name<"loss">>(session.raw_session().hooked_workspace()), 1.0f);
  session.close();
}

std::string said;
void remember(std::string_view line) { said += line; }

TEST(MonitoredSession, ASessionThatWasNeverClosedSaysSoOnceAndCallsNoEnd) {
  Trace trace;
  DiagnosticSink before = set_diagnostic_sink(&remember);
  said.clear();
  { MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}}; }
  EXPECT_EQ(trace.text, "a.B mk a.C");
  EXPECT_EQ(said, "crochet: a session was destroyed without close(), so no hook saw end(); use run_session");
  said.clear();
  {
    MonitoredSession session{TracedExecutor{trace}, HookChain{Recorder<'a'>{trace}}};
    session.close();
  }
  EXPECT_EQ(said, "");
  set_diagnostic_sink(before);
}

TEST(MonitoredSession, ErrorsInOnErrorDoNotHideTheOneThatLeaves) {
  Trace trace;
  DiagnosticSink before = set_diagnostic_sink(&remember);
  said.clear();
  MonitoredSession session{
      TracedExecutor{trace}.throwing_in_run(1, std::runtime_error("first")),
      HookChain{Recorder<'a'>{trace}.throwing('X', IoError("report failed")), Recorder<'b'>{trace}}};
  EXPECT_THROW(run_times(session, 1), std::runtime_error);
  EXPECT_TRUE(trace.text.ends_with("run a.X b.X"));
  EXPECT_EQ(said, "crochet: on_error of a hook threw: report failed");
  set_diagnostic_sink(before);
}

TEST(MonitoredSession, CanBorrowItsExecutorAndChain) {
  Trace trace;
  TracedExecutor executor{trace};
  HookChain chain{Recorder<'a'>{trace}};
  {
    MonitoredSession<TracedExecutor&, decltype(chain)&> session{executor, chain};
    EXPECT_EQ(&session.executor(), &executor);
    EXPECT_EQ(&session.hooks(), &chain);
    session.close();
  }
}

/// A minimal extend_graph, since the test has no graph.
struct Extending {
  static constexpr void extend_graph(GraphBuilder&) {}
};
struct ExtendedExecutor : TracedExecutor {
  explicit ExtendedExecutor(TracedExecutor&& base) : TracedExecutor(std::move(base)) {}
};
struct ExtensibleExecutor : TracedExecutor {
  using TracedExecutor::TracedExecutor;
  template <class... H>
  using extended_by = ExtendedExecutor;
};

TEST(MonitoredSession, DrivesTheExtendedExecutorIfAHookExtendsTheGraph) {
  Trace trace;
  using Plain = MonitoredSession<ExtensibleExecutor, HookChain<Recorder<'a'>>>;
  using Extended = MonitoredSession<ExtensibleExecutor, HookChain<Recorder<'a'>, Extending>>;
  static_assert(std::is_same_v<Plain::Executor, ExtensibleExecutor>);
  static_assert(std::is_same_v<Extended::Executor, ExtendedExecutor>);
  Extended session{ExtensibleExecutor{trace}, HookChain{Recorder<'a'>{trace}, Extending{}}};
  session.run("train"_n);
  session.close();
  EXPECT_EQ(trace.text, "a.B mk a.C a.b run a.a a.E(1)");
}

/// A number that changes when it is destroyed.
struct Rate {
  explicit Rate(float v) : value(v) {}
  Rate(const Rate&) = default;
  ~Rate() { value = -1; }
  volatile float value;
};
/// As the CPU executor, keeps the address of a fed number for fetches.
struct KeepsAddress {
  struct Workspace {
    const Rate* rate = nullptr;
  };
  static constexpr std::array<std::string_view, 1> fetchable{"rate"};
  static constexpr std::array<std::string_view, 1> feedable{"rate"};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = Rate;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = std::is_same_v<X, Rate>;
  template <class D, class... F>
  void run(Workspace& workspace, const F&... feeds) {
    ((workspace.rate = &feeds.value), ...);
  }
  template <class N>
  float fetch(Workspace& workspace) const {
    return workspace.rate->value;
  }
};
struct FeedsRate {
  float rate = 0;
  auto before_run(auto&) { return RunArgs{feed<"rate">(Rate(rate += 1))}; }
};
/// Its log is due in every second run.
struct LogsPhases {
  PhaseLog* log;
  int runs = 0;
  PhaseLog* due_phase_log() { return ++runs % 2 == 0 ? log : nullptr; }
  void before_run(auto&) const {}
};

TEST(MonitoredSession, APlaceholderThatAHookFeedsIsFetchedWhileItsRequestExists) {
  PhaseLog log([] { return 0.0; });
  MonitoredSession session{KeepsAddress{}, HookChain{FeedsRate{}, LogsPhases{&log}}};
  for (int run = 1; run <= 4; ++run) {
    EXPECT_EQ(session.run(fetches<"rate">)["rate"_n], static_cast<float>(run)) << "run " << run;
  }
  session.close();
}

TEST(SideSession, APlaceholderThatAHookFeedsIsFetchedWhileItsRequestExists) {
  KeepsAddress executor;
  RawSession<KeepsAddress> main{executor};
  PhaseLog log([] { return 0.0; });
  HookChain hooks{FeedsRate{}, LogsPhases{&log}};
  SideSession<KeepsAddress>{main}.drive(hooks, 0, [](auto& runs) {
    for (int run = 1; run <= 4; ++run) {
      EXPECT_EQ(runs.run(fetches<"rate">)["rate"_n], static_cast<float>(run)) << "run " << run;
    }
  });
}

/// A view that a loop reads after the expression that made it.
struct FetchesView {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"v"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = TensorView<const float, 1>;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = false;
  std::array<float, 3> values{1, 2, 3};
  template <class D, class... F>
  void run(Workspace&, const F&...) {}
  template <class N>
  TensorView<const float, 1> fetch(Workspace&) const {
    return {values.data(), {3}};
  }
};

TEST(Fetched, TheSubscriptOfATemporaryIsNoReference) {
  MonitoredSession session{FetchesView{}};
  using Result = decltype(session.run(fetches<"v">));
  static_assert(std::is_same_v<decltype(std::declval<Result>()["v"_n]), TensorView<const float, 1>>);
  static_assert(std::is_same_v<decltype(std::declval<Result&>()["v"_n]), const TensorView<const float, 1>&>);
  static_assert(std::is_same_v<decltype(std::declval<Fetched<Names<Name<"x">>, float&>>()["x"_n]), float&>);
  float sum = 0;
  for (const float x : session.run(fetches<"v">)["v"_n]) sum += x;
  EXPECT_EQ(sum, 6);
  session.close();
}

}  // namespace monitored_session_test
}  // namespace crochet

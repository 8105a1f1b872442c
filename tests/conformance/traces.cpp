// SPDX-License-Identifier: Apache-2.0
// The reference traces, T1 to T20 (spec 1.5): complete sessions with recovery, unless a row states otherwise.
#include <stdexcept>
#include <string>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace traces_scenarios {

using A = Spy<'a'>;
using B = Spy<'b'>;
using C = Spy<'c'>;

/// Runs the body as Python's `with` would, and returns its trace.
template <class Session, class Body>
std::string trace_of(World& world, Session& session, Body&& body) {
  world.news();
  run_session(session, body);
  return world.news();
}

/// Two training runs.
constexpr auto train_twice = [](auto& session) {
  train(session);
  train(session);
};

constexpr const char* on_error_is_new =
    "then `on_error` of every hook, before the session is closed: hooks can write a report or release what `begin` "
    "opened. `end` is for clean ends only";

SAME(T1, "two ordinary runs under two hooks",
     "a.B b.B mk#1 a.C b.C · a.b b.b run#1 a.a b.a · a.b b.b run#1 a.a b.a · a.E(1) b.E(1) cl#1") {
  World world;
  auto session = monitored(world, A{world}, B{world});
  EXPECT_EQ(world.news(), "a.B b.B mk#1 a.C b.C");
  EXPECT_EQ(trace_of(world, session, train_twice), "a.b b.b run#1 a.a b.a a.b b.b run#1 a.a b.a a.E(1) b.E(1) cl#1");
}

DIFFERENT(T2, "how-a-session-ends", "the second run of the machine fails",
          "… a.b b.b run#1 cl#1; the error leaves, no `end`",
          std::string("… a.b b.b run#1 a.X b.X cl#1: ") + on_error_is_new) {
  World world;
  auto session = monitored(world, A{world}, B{world});
  world.fail_run(2, std::runtime_error("broken"));
  world.news();
  EXPECT_EQ(thrown_by<std::runtime_error>([&] { run_session(session, train_twice); }), "broken");
  EXPECT_EQ(world.news(), "a.b b.b run#1 a.a b.a a.b b.b run#1 a.X b.X cl#1");
}

SAME(T3, "the second run reports the end of the data", "… a.b b.b run#1 a.E(1) b.E(1) cl#1; nothing leaves") {
  World world;
  auto session = monitored(world, A{world}, B{world});
  world.fail_run(2, OutOfRangeError{});
  EXPECT_EQ(trace_of(world, session, train_twice), "a.b b.b run#1 a.a b.a a.b b.b run#1 a.E(1) b.E(1) cl#1");
}

SAME(T4, "the second run is aborted",
     "… a.b b.b run#1 cl#1 mk#2 a.C b.C a.b b.b run#2 a.a b.a … a.E(2) b.E(2) cl#2; the call returns the value of the "
     "second attempt") {
  World world;
  auto session = monitored(world, A{world}, B{world});
  world.fail_run(2, AbortedError("gone"));
  std::int64_t step = 0;
  EXPECT_EQ(trace_of(world, session,
                     [&](auto& s) {
                       train(s);
                       step = train(s);
                     }),
            "a.b b.b run#1 a.a b.a a.b b.b run#1 cl#1 mk#2 a.C b.C a.b b.b run#2 a.a b.a a.E(2) b.E(2) cl#2");
  EXPECT_EQ(step, 1) << "of the new session, which began anew";
}

SAME(T5, "after_run of the second of three hooks finds the machine unavailable, once",
     "a.b b.b c.b run#1 a.a b.a cl#1 mk#2 a.C b.C c.C a.b b.b c.b run#2 a.a b.a c.a") {
  World world;
  auto session = monitored(world, A{world}, B{world}.failing('a', UnavailableError("gone")), C{world});
  world.news();
  train(session);
  EXPECT_EQ(world.news(), "a.b b.b c.b run#1 a.a b.a cl#1 mk#2 a.C b.C c.C a.b b.b c.b run#2 a.a b.a c.a");
  session.close();
}

struct StopsOnce {
  int runs = 0;
  void after_run(auto& run, const auto&) {
    if (runs++ == 0) run.request_stop("enough");
  }
};

DIFFERENT(T6, "how-it-stops", "a's after_run requests a stop, then b's after_run is aborted, once",
          "as T5; should_stop() is False: the request is lost",
          "as T5, but the request stays: a lost machine is no reason to ignore a stop") {
  World world;
  auto session = monitored(world, StopsOnce{}, B{world}.failing('a', AbortedError("gone")));
  world.news();
  train(session);
  EXPECT_EQ(world.news(), "b.b run#1 b.a cl#1 mk#2 b.C b.b run#2 b.a");
  EXPECT_EQ(session.hooks().template get<StopsOnce>().runs, 2) << "it asked in the attempt that failed only";
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.stop_reason().reason, "enough");
  session.close();
}

SAME(T7, "begin of the second of two hooks fails", "a.B b.B; the constructor raises") {
  World world;
  EXPECT_EQ(thrown_by<std::runtime_error>(
                [&] { monitored(world, A{world}, B{world}.failing('B', std::runtime_error("no")), C{world}); }),
            "no");
  EXPECT_EQ(world.news(), "a.B b.B");
}

DIFFERENT(T8, "how-it-recovers", "after_create_session of the second hook is aborted, once",
          "a.B b.B c.B mk#1 a.C b.C mk#2 a.C b.C c.C …; session 1 is never closed",
          "session 1 is closed before session 2 is created: an incomplete session has files, memory and threads") {
  World world;
  auto session = monitored(world, A{world}, B{world}.failing('C', AbortedError("gone")), C{world});
  EXPECT_EQ(world.news(), "a.B b.B c.B mk#1 a.C b.C cl#1 mk#2 a.C b.C c.C");
  session.close();
}

DIFFERENT(T9, "how-it-recovers", "after_create_session of the second hook reports the end of the data",
          "a.B b.B c.B mk#1 a.C b.C; the constructor raises: at that place it is no clean end; nothing is closed",
          "the same, but session 1 is closed before the error is thrown") {
  World world;
  EXPECT_THROW(monitored(world, A{world}, B{world}.failing('C', OutOfRangeError{}), C{world}), OutOfRangeError);
  EXPECT_EQ(world.news(), "a.B b.B c.B mk#1 a.C b.C cl#1");
}

SAME(T10, "b's before_run fails; the caller catches that and runs again",
     "a.b b.b · a.b b.b c.b run#1 a.a b.a c.a; works, and every `end` is called") {
  World world;
  auto session = monitored(world, A{world}, B{world}.failing('b', std::invalid_argument("x")), C{world});
  EXPECT_EQ(trace_of(world, session,
                     [](auto& s) {
                       EXPECT_THROW(train(s), std::invalid_argument);
                       EXPECT_FALSE(s.should_stop());
                       train(s);
                     }),
            "a.b b.b a.b b.b c.b run#1 a.a b.a c.a a.E(1) b.E(1) c.E(1) cl#1");
}

DIFFERENT(T11, "how-a-session-ends", "`end` of the second of three hooks fails",
          "… a.E(1) b.E(1) cl#1; raises; c has no `end`",
          "… a.E(1) b.E(1) c.E(1) cl#1: every hook gets its `end`: a failed plot must not prevent the last "
          "checkpoint. The first error is thrown, further ones are nested in it") {
  World world;
  auto session =
      monitored(world, A{world}, B{world}.failing('E', IoError("disk full")), C{world}.failing('E', DataError("too")));
  world.news();
  try {
    run_session(session, [](auto& s) { train(s); });
    FAIL() << "the error has to leave";
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "disk full");
    ASSERT_NE(error.nested(), nullptr);
    EXPECT_EQ(detail::what_of(error.nested()), "too");
  }
  EXPECT_EQ(world.news(), "a.b b.b c.b run#1 a.a b.a c.a a.E(1) b.E(1) c.E(1) cl#1");
}

DIFFERENT(T12, "how-a-session-ends", "close() inside the scope",
          "a.E(1) cl#1 a.E(None); raises \"already closed\"; `end` ran twice",
          "a.E(1) cl#1, and nothing is raised: close may be called twice, and `end` is called once") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(trace_of(world, session, [](auto& s) { s.close(); }), "a.E(1) cl#1");
}

DIFFERENT(T13, "how-a-session-ends", "a run after close", "AttributeError: there is no guard",
          "LogicError with the reason that the session is closed") {
  World world;
  auto session = monitored(world, A{world});
  session.close();
  world.news();
  EXPECT_NE(thrown_by<LogicError>([&] { train(session); }).find("closed"), std::string::npos);
  EXPECT_EQ(world.news(), "");
}

SAME(T14, "a thread reports an error to the coordinator",
     "should_stop() is True, the next run still works; at the exit a.E(1) cl#1, then the error is raised") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  EXPECT_EQ(thrown_by<DataError>([&] {
              run_session(session, [](auto& s) {
                report_from_a_thread(s.coordinator(), DataError("a reader broke"));
                EXPECT_TRUE(s.should_stop());
                EXPECT_EQ(train(s), 1);
              });
            }),
            "a reader broke");
  EXPECT_EQ(world.news(), "a.b run#1 a.a a.E(1) cl#1");
}

DIFFERENT(T15, "how-a-session-ends", "the same in a singular session",
          "should_stop() itself raises the error; at the exit cl#1, no `end`",
          std::string("should_stop() raises it; at the exit a.X cl#1: ") + on_error_is_new) {
  World world;
  auto session = singular(world, A{world});
  world.news();
  EXPECT_EQ(thrown_by<DataError>([&] {
              run_session(session, [](auto& s) {
                report_from_a_thread(s.coordinator(), DataError("a reader broke"));
                (void)s.should_stop();
                ADD_FAILURE() << "should_stop has to throw";
              });
            }),
            "a reader broke");
  EXPECT_EQ(world.news(), "a.X cl#1");
}

SAME(T16, "a thread reports Aborted; the caller calls should_stop()", "cl#1 mk#2 a.C; False") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  report_from_a_thread(session.coordinator(), AbortedError("gone"));
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(world.news(), "cl#1 mk#2 a.C");
  EXPECT_EQ(train(session), 1);
  session.close();
}

DIFFERENT(
    T17, "how-it-recovers", "the run is aborted while the coordinator holds another error",
    "… run#1 cl#1; that other error leaves run; should_stop() is then True, yet one more run silently makes session "
    "2 and works",
    "the same, but one more run throws: an error that is not recoverable is not ignored silently") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  world.fail_run(1, AbortedError("gone"));
  report_from_a_thread(session.coordinator(), DataError("a reader broke"));
  EXPECT_EQ(thrown_by<DataError>([&] { train(session); }), "a reader broke");
  EXPECT_EQ(world.news(), "a.b run#1 cl#1");
  EXPECT_TRUE(session.should_stop());
  EXPECT_THROW(train(session), LogicError);
  EXPECT_EQ(world.news(), "");
  EXPECT_THROW(session.close(), DataError);
}

DIFFERENT(
    T18, "how-it-recovers", "making the session is aborted, then unavailable, then works",
    "fail fail mk#1 a.C …; without a pause between",
    "fail fail mk#1 a.C with pauses of 0.1 s and 0.2 s, each reported, and a limit: an endless loop without a pause "
    "is no recovery") {
  World world;
  world.fail_attempt(1, AbortedError("gone"));
  world.fail_attempt(2, UnavailableError("not yet"));
  auto session = monitored(world, A{world});
  EXPECT_EQ(world.news(), "a.B fail fail mk#1 a.C");
  EXPECT_NEAR(world.clock(), 0.1 + 0.2, 1e-9);
  EXPECT_EQ(said().size(), 2u);
  session.close();
}

DIFFERENT(T19, "how-it-recovers", "the step function is aborted when it is called first",
          "cl#1 mk#2 a.C a.b run#2 a.a; the context's session in the second call is still the closed one",
          "the same trace; the context's session is the new one") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  std::string sessions;
  session.run_step_fn([&](auto& context) {
    sessions += std::to_string(context.session().executor().session());
    if (sessions.size() == 1) throw AbortedError("gone");
    context.run_with_hooks("train"_n);
  });
  EXPECT_EQ(world.news(), "cl#1 mk#2 a.C a.b run#2 a.a");
  EXPECT_EQ(sessions, "12");
  session.close();
}

DIFFERENT(T20, "how-a-session-ends", "the body fails while the coordinator holds an error",
          "cl#1; the coordinator's error replaces the body's",
          "a.X cl#1; the body's error is thrown, with the coordinator's nested in it: neither is lost") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  try {
    run_session(session, [](auto& s) {
      report_from_a_thread(s.coordinator(), DataError("a reader broke"));
      throw ShapeError("the body's own");
    });
    FAIL() << "the error has to leave";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "the body's own");
    ASSERT_NE(error.nested(), nullptr);
    EXPECT_EQ(detail::what_of(error.nested()), "a reader broke");
  }
  EXPECT_EQ(world.news(), "a.X cl#1");
}

}  // namespace traces_scenarios
}  // namespace crochet::conformance

// SPDX-License-Identifier: Apache-2.0
// The layers of a session: the general rules, the coordinated layer, the recoverable one. Spec 3.2, 3.5, 5.3, 5.4.
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace layers_scenarios {

using A = Spy<'a'>;

constexpr const char* layers_are_no_sessions =
    "layers are parts of one session, not nested sessions, so there is nothing to forward. Shown: the outermost "
    "object returns the executor itself";

/// Expects that the session uses the caller's own executor.
template <template <class, class> class Session>
void expect_own_executor() {
  World world;
  Machine machine{world};
  Session<Machine&, HookChain<>> session{machine};
  EXPECT_EQ(&session.executor(), &machine);
  EXPECT_EQ(&session.raw_session().executor(), &machine);
  session.close();
}
template <class Exec, class Chain>
using Monitored = MonitoredSession<Exec, Chain>;
template <class Exec, class Chain>
using NotRecovering = SingularMonitoredSession<Exec, Chain>;

/// Expects that a run returns the machine's values for the given feeds.
template <class Session>
void expect_forwarded(Session&& session) {
  EXPECT_EQ(session.run(fetches<"weight">, targets<"train">, feed<"by">(3.0f))["weight"_n], 3.0f);
  EXPECT_EQ(session.run(fetches<"weight", "step">, targets<"train">, feed<"by">(4.0f))["weight"_n], 7.0f);
  session.close();
}

// ---- W: rules for every layer
// ----------------------------------------------------------------------------------------

NOT_APPLICABLE(W1, "graph and target of the session below", "are forwarded by the wrapper", layers_are_no_sessions) {
  expect_own_executor<Monitored>();
}

SAME(W2, "should_stop() before and after close", "False, then True") {
  World world;
  auto session = monitored(world);
  EXPECT_FALSE(session.should_stop());
  session.close();
  EXPECT_TRUE(session.should_stop());
}

NOT_APPLICABLE(
    W3, "a subclass's own stop check", "decides: False three times, then True",
    "layers are not base classes; a hook or the coordinator decides. Shown: a hook decides, False three times, then "
    "True") {
  World world;
  int runs = 0;
  auto session = monitored(world, A{world}.on('a', [&] { ++runs; }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(session.should_stop());
    train(session);
    if (runs == 3) session.coordinator().request_stop("three runs");
  }
  EXPECT_TRUE(session.should_stop());
  session.close();
}

SAME(W4, "an inner layer stops at the fifth check", "the outer one answers False four times, then True") {
  World world;
  auto session = monitored(world);
  for (int question = 1; question <= 5; ++question) {
    if (question == 5) session.coordinator().request_stop();
    EXPECT_EQ(session.should_stop(), question == 5);
  }
  session.close();
}

SAME(W5, "close is called twice", "harmless; the session stays stopped") {
  World world;
  auto session = monitored(world, A{world});
  session.close();
  world.news();
  EXPECT_NO_THROW(session.close());
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(world.news(), "");
}

SAME(W6, "a run with fetches and feeds", "both are forwarded") {
  World world;
  expect_forwarded(monitored(world));
}

// ---- C: the coordinated layer
// ----------------------------------------------------------------------------------------

NOT_APPLICABLE(C1, "graph and target of the session below", "are forwarded", layers_are_no_sessions) {
  expect_own_executor<NotRecovering>();
}

SAME(C2, "a run with fetches and feeds", "both are forwarded") {
  World world;
  expect_forwarded(singular(world));
}

SAME(C3, "close", "it is stopped") {
  World world;
  auto session = singular(world);
  EXPECT_FALSE(session.should_stop());
  session.close();
  EXPECT_TRUE(session.should_stop());
}

SAME(C4, "a stop is requested of the coordinator", "it is stopped") {
  World world;
  auto session = singular(world);
  session.coordinator().request_stop("enough");
  EXPECT_TRUE(session.should_stop());
  session.close();
}

SAME(C5, "a run of the main thread fails (in the original for a bad fetch, which does not compile here)",
     "neither the coordinator nor the session is stopped") {
  World world;
  auto session = singular(world);
  world.fail_run(1, ShapeError("a bad feed"));
  EXPECT_THROW(train(session), ShapeError);
  EXPECT_FALSE(session.coordinator().should_stop());
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(train(session), 1);
  session.close();
}

NOT_APPLICABLE(C8, "where an error of the session below came from",
               "its trace's innermost frame is in that session's file",
               "C++ exceptions have no trace. Shown: the thrown exception is the same object, not a copy") {
  World world;
  auto session = singular(world, A{world});
  world.fail_run(1, ShapeError("a bad feed"));
  try {
    train(session);
    FAIL() << "the error has to leave";
  } catch (...) {
    EXPECT_EQ(std::current_exception(), world.lost_runs.at(1));
  }
  session.close();
}

// ---- R: the recoverable layer
// ----------------------------------------------------------------------------------------

NOT_APPLICABLE(R1, "graph and target of the session below", "are forwarded", layers_are_no_sessions) {
  World world;
  auto session = monitored(world);
  Machine* const machine = &session.executor();
  world.fail_run(1, AbortedError("gone"));
  train(session);
  EXPECT_EQ(&session.executor(), machine) << "the new session is one of the same executor";
  session.close();
}

SAME(R2, "a run with fetches and feeds", "both are forwarded, and repeated after a recovery") {
  World world;
  expect_forwarded(monitored(world));
  world.fail_run(world.runs + 1, AbortedError("gone"));
  expect_forwarded(monitored(world));
}

/// Creates three sessions, then throws.
struct ThreeSessions {
  int made = 0;
  void create_session(auto& session, Coordinator&) {
    if (made == 3) throw DataError("there are no more sessions");
    ++made;
    session.executor().initialize();
  }
};

SAME(R3, "a creator of three sessions, which are aborted after 1, 2 and 3 runs",
     "each time the call is answered by the next session; at last the creator's own error appears") {
  World world;
  std::map<int, int> runs;
  MonitoredSession session{Machine{world}, HookChain{A{world}}, ThreeSessions{}, SessionOptions{.clock = world.clock}};
  world.in_run = [&](int) {
    if (++runs[world.sessions] > world.sessions) throw AbortedError("gone");
  };
  std::vector<std::int64_t> steps;
  for (int call = 0; call < 6; ++call) steps.push_back(train(session));
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 1, 2, 1, 2, 3}));
  EXPECT_EQ(world.sessions, 3);
  EXPECT_EQ(thrown_by<DataError>([&] { train(session); }), "there are no more sessions");
  session.close();
}

/// Two steps of a session. During the machine's run number `reported_in` a thread reports an error. `step` returns the
/// global step.
template <class E, class Step>
struct Reported {
  World world{};
  std::int64_t first = 0, second = 0;
  bool stopped = false;
  int sessions = 0;
  std::string closing_raised{};

  Reported(E error, Step step, std::function<void()> after_second = {}, int reported_in = 2) {
    auto session = monitored(world, A{world}.on('a', [&, n = 0]() mutable {
      if (++n == 2 && after_second) after_second();
    }));
    world.in_run = [&session, error, reported_in](int run) {
      if (run == reported_in) report_from_a_thread(session.coordinator(), error);
    };
    first = step(session);
    second = step(session);
    stopped = session.should_stop();
    sessions = world.sessions;
    try {
      session.close();
    } catch (const Error& thrown) {
      closing_raised = thrown.what();
    }
  }
};

constexpr auto by_run = [](auto& session) { return train(session); };
constexpr auto by_hooked_step = [](auto& session) {
  return session.run_step_fn(
      [](auto& context) { return context.run_with_hooks(fetches<"step">, targets<"train">)["step"_n]; });
};
constexpr auto by_raw_step = [](auto& session) {
  return session.run_step_fn(
      [](auto& context) { return context.session().run(fetches<"step">, targets<"train">)["step"_n]; });
};

/// The run returns its value. Then the session is recreated, and the loop continues.
template <class Step>
void expect_recovered_after_the_run(Step step) {
  const Reported seen{AbortedError("gone"), step};
  EXPECT_EQ(seen.first, 1);
  EXPECT_EQ(seen.second, 2) << "from the first session";
  EXPECT_FALSE(seen.stopped);
  EXPECT_EQ(seen.sessions, 2);
  EXPECT_EQ(seen.closing_raised, "");
}
/// The run returns its value. Then the loop ends, and close throws.
template <class Step>
void expect_stopped_after_the_run(Step step) {
  const Reported seen{DataError("a reader broke"), step};
  EXPECT_EQ(seen.second, 2);
  EXPECT_TRUE(seen.stopped);
  EXPECT_EQ(seen.sessions, 1);
  EXPECT_EQ(seen.closing_raised, "a reader broke");
}
/// The second run ends in after_run with an error that follows from the one that the thread reported.
template <class Step>
void expect_recovered_in_the_run(Step step, int reported_in = 2) {
  const Reported seen{AbortedError("gone"), step, [] { throw CancelledError("the queue was closed"); }, reported_in};
  EXPECT_EQ(seen.first, 1);
  EXPECT_EQ(seen.second, 1) << "from the second session";
  EXPECT_FALSE(seen.stopped);
  EXPECT_EQ(seen.sessions, 2);
  EXPECT_EQ(seen.closing_raised, "");
}

SAME(R4, "a thread reports Aborted while the second run is going on",
     "the run gives its value; should_stop() is False, and there is a second session") {
  expect_recovered_after_the_run(by_run);
}
SAME(R5, "a thread reports another error", "should_stop() is True, there is one session, close raises the error") {
  expect_stopped_after_the_run(by_run);
}
SAME(R6, "a thread reports Aborted, and after_run of the same run fails with Cancelled",
     "recovered: the call gives a value, and there are two sessions") {
  expect_recovered_in_the_run(by_run);
}
SAME(R7, "R4 in a step function with run_with_hooks", "as R4") { expect_recovered_after_the_run(by_hooked_step); }
SAME(R8, "R5 in a step function with run_with_hooks", "as R5") { expect_stopped_after_the_run(by_hooked_step); }
SAME(R9, "R6 in a step function with run_with_hooks", "as R6") { expect_recovered_in_the_run(by_hooked_step); }
SAME(R10, "R4 in a step function that runs the raw session", "as R4") { expect_recovered_after_the_run(by_raw_step); }
SAME(R11, "R5 in a step function that runs the raw session", "as R5") { expect_stopped_after_the_run(by_raw_step); }

NOT_APPLICABLE(
    R12, "R6 in a step function that runs the raw session, which in that test has hooks", "as R6",
    "the session of a step context never has hooks, so no after_run can fail there. Shown: a hooked run after "
    "the raw one, whose after_run fails so") {
  expect_recovered_in_the_run(
      [](auto& session) {
        return session.run_step_fn([](auto& context) {
          EXPECT_GE(context.session().run(fetches<"step">)["step"_n], 0);
          return context.run_with_hooks(fetches<"step">, targets<"train">)["step"_n];
        });
      },
      4);
}

}  // namespace layers_scenarios
}  // namespace crochet::conformance

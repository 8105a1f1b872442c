// SPDX-License-Identifier: Apache-2.0
// MonitoredSession: spec 3, 5.6. The scenarios with files are in checkpoints.cpp.
#include <crochet/hooks/stop_at_step.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace sessions_scenarios {

using A = Spy<'a'>;

SAME(S1, "a session without hooks or other arguments", "variables are initialized") {
  World world;
  MonitoredSession session{Machine{world}};
  EXPECT_TRUE(session.executor().variables_initialized());
  EXPECT_EQ(session.run(fetches<"weight">)["weight"_n], 0.0f);
  session.close();
}

SAME(S2, "StopAtStep with last_step = 3",
     "the step is 0 at first; should_stop() is False after runs 1 and 2, True after run 3") {
  World world;
  auto session = monitored(world, StopAtStep{.last_step = 3});
  EXPECT_EQ(session.run(no_hooks, fetches<"step">)["step"_n], 0);
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(train(session), 1);
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(train(session), 2);
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(train(session), 3);
  EXPECT_TRUE(session.should_stop());
  session.close();
}

/// Two steps; then a step in which a hook's before_run throws E, once.
template <class E>
void expect_begun_anew() {
  World world;
  int runs = 0;
  auto session = monitored(world, A{world}.on('b', [&] {
    if (++runs == 3) throw E("gone");
  }));
  EXPECT_EQ(train(session), 1);
  EXPECT_EQ(train(session), 2);
  EXPECT_EQ(train(session), 1) << "of the new session";
  EXPECT_EQ(world.sessions, 2);
  session.close();
}

SAME(S7, "Aborted comes from a hook's before_run; there are no checkpoints",
     "the call is repeated on a model that is initialized anew: the step is back at 0, the result 1") {
  expect_begun_anew<AbortedError>();
}

SAME(S8, "the same with Unavailable", "the same") { expect_begun_anew<UnavailableError>(); }

/// A session whose second run fails with E in before_run, in a scope.
template <class E>
struct EndsWith {
  World world{};
  bool went_on = false;
  bool left = false;
  bool stopped_afterwards = false;

  explicit EndsWith(E error) {
    int runs = 0;
    auto session = monitored(world, A{world}.on('b', [&, error] {
      if (++runs == 2) throw error;
    }));
    try {
      run_session(session, [&](auto& s) {
        train(s);
        train(s);
        went_on = true;
      });
    } catch (const E&) {
      left = true;
    }
    stopped_afterwards = session.should_stop();
  }
};

SAME(S10, "a hook reports the end of the data inside the scope",
     "the statement after the run is not reached; nothing leaves the scope; the session is stopped afterwards") {
  const EndsWith ended{OutOfRangeError{}};
  EXPECT_FALSE(ended.went_on);
  EXPECT_FALSE(ended.left);
  EXPECT_TRUE(ended.stopped_afterwards);
}

SAME(S11, "the same with StopIteration", "the same") {
  const EndsWith ended{StopIteration{}};
  EXPECT_FALSE(ended.went_on);
  EXPECT_FALSE(ended.left);
  EXPECT_TRUE(ended.stopped_afterwards);
}

SAME(S12, "the same with any other error", "it leaves the scope; the session is stopped afterwards") {
  const EndsWith ended{std::runtime_error("no")};
  EXPECT_FALSE(ended.went_on);
  EXPECT_TRUE(ended.left);
  EXPECT_TRUE(ended.stopped_afterwards);
}

SAME(S13, "a thread reports an error to the coordinator", "the next run still succeeds; the error leaves the scope") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(thrown_by<DataError>([&] {
              run_session(session, [](auto& s) {
                EXPECT_EQ(train(s), 1);
                report_from_a_thread(s.coordinator(), DataError("a reader broke"));
                EXPECT_EQ(train(s), 2);
              });
            }),
            "a reader broke");
}

SAME(S14, "the same, and should_stop() inside the scope", "is True, and raises nothing; the error leaves the scope") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(thrown_by<DataError>([&] {
              run_session(session, [](auto& s) {
                while (!s.should_stop()) {
                  train(s);
                  report_from_a_thread(s.coordinator(), DataError("a reader broke"));
                }
              });
            }),
            "a reader broke");
  EXPECT_EQ(world.runs, 1);
}

SAME(S15, "a scope that ends without an error", "the session is stopped and closed") {
  World world;
  auto session = monitored(world, A{world});
  run_session(session, [](auto& s) { train(s); });
  EXPECT_TRUE(session.should_stop());
  EXPECT_TRUE(session.closed());
}

SAME(S16, "the body itself fails", "its error leaves; the session is stopped and closed") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(thrown_by<std::runtime_error>([&] {
              run_session(session, [](auto& s) {
                train(s);
                throw std::runtime_error("a bug in the loop");
              });
            }),
            "a bug in the loop");
  EXPECT_TRUE(session.should_stop());
  EXPECT_TRUE(session.closed());
}

NOT_APPLICABLE(
    S17, "the session's `graph`", "is the default graph",
    "there is no default graph: a session is made from an executor, which has one. Shown: it is that executor, "
    "the caller's own when it is borrowed") {
  World world;
  Machine machine{world};
  MonitoredSession<Machine&, HookChain<>> session{machine};
  EXPECT_EQ(&session.executor(), &machine);
  session.close();
}

struct ExtendsInBegin {
  void begin(GraphBuilder&);
};

NOT_APPLICABLE(S18, "the graph while the session is open, and after it", "finalized, then open again",
               "a graph is finished before the program starts and has no member that could add an op, so there is "
               "nothing to finalize. Shown: a hook that takes the builder in `begin` does not compile") {
  EXPECT_FALSE((HookedLayer<Machine, HookChain<ExtendsInBegin>>::usable));
}

struct ExtendsAfterCreation {
  void after_create_session(auto&, GraphBuilder&);
};

NOT_APPLICABLE(S19, "a graph that was finalized before the session was made", "stays finalized after it",
               "as S18. Shown: nor does one that takes it after the session is created") {
  EXPECT_FALSE((HookedLayer<Machine, HookChain<ExtendsAfterCreation>>::usable));
}

/// Requests the step.
struct WantsStep {
  static constexpr auto fetches = crochet::fetches<"step">;
  std::int64_t step = 0;
  void after_run(auto&, const auto& values) { step = values["step"_n]; }
};
/// Requests the step and the weight in every second run.
struct WantsMore {
  static constexpr auto fetches = crochet::fetches<"step", "weight">;
  int runs = 0;
  int weights = 0;
  std::optional<RunArgs<Fetches<Name<"step">, Name<"weight">>>> before_run(auto&) {
    if (++runs % 2 == 1) return {};
    return RunArgs{crochet::fetches<"step", "weight">};
  }
  void after_run(auto&, const auto& values) { weights += values.requested() ? 1 : 0; }
};

NOT_APPLICABLE(
    S20, "two hooks request run options: trace levels 2 and 3, timeouts, partition graphs, watches",
    "trace 3, the longest timeout, flags joined by or, watches one after the other; all hooks see one "
    "metadata object",
    "a run has no options object; a hook's recording is part of its type, and no single hook sets a timeout for "
    "all. Shown: the requests of two hooks are united for one run, each gets its own values") {
  World world;
  auto session = monitored(world, WantsStep{}, WantsMore{});
  train(session);
  train(session);
  EXPECT_EQ(world.runs, 2);
  EXPECT_EQ(session.hooks().template get<WantsStep>().step, 2);
  EXPECT_EQ(session.hooks().template get<WantsMore>().weights, 1);
  session.close();
}

/// Compares the caller's request with the expected one, and requests the step.
struct Looks {
  bool same = false;
  auto before_run(auto& run) {
    using Request = typename std::remove_reference_t<decltype(run)>::original_args_type;
    same = std::is_same_v<Request, RunArgs<Fetches<Name<"weight">>, Targets<Name<"train">>, Feeds<>>>;
    return RunArgs{fetches<"step">};
  }
};

NOT_APPLICABLE(S21, "the caller passes options and a hook requests others",
               "merged by the same rules, the caller's watches first; the caller's own object is changed by it",
               "as S20. Shown: the caller's request is united with those of the hooks, and hooks get the caller's "
               "request unchanged") {
  World world;
  auto session = monitored(world, Looks{}, WantsStep{});
  const auto got = session.run(fetches<"weight">, targets<"train">);
  EXPECT_EQ(got["weight"_n], 0.5f);
  EXPECT_TRUE(session.hooks().template get<Looks>().same);
  EXPECT_EQ(session.hooks().template get<WantsStep>().step, 1);
  EXPECT_EQ(world.runs, 1);
  session.close();
}

DIFFERENT(S22, "how-a-session-ends", "close() inside the scope", "at the exit it raises \"Session is already closed\"",
          "nothing is raised: a body may close its session, and a second close does nothing") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_NO_THROW(run_session(session, [](auto& s) { s.close(); }));
  EXPECT_TRUE(session.closed());
}

}  // namespace sessions_scenarios
}  // namespace crochet::conformance

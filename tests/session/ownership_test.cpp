// SPDX-License-Identifier: Apache-2.0
// Ownership of executors: every kind of session borrows an lvalue and owns a temporary or a moved executor.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>

#include <utility>

namespace crochet {
namespace ownership_test {

/// A step function that counts its calls in a member: a copy has a counter of its own.
struct Counts {
  int calls = 0;
  void operator()(auto& /*out*/) { ++calls; }
};

/// An executor with a public counter of runs. It cannot be copied.
struct Machine : StepExecutor<Counts> {
  Machine() : StepExecutor<Counts>(Counts{}) {}
  Machine(Machine&&) = default;
  Machine(const Machine&) = delete;

  template <class D, class... F>
  void run(Workspace& workspace, const F&... fed) {
    ++runs;
    StepExecutor<Counts>::run<D>(workspace, fed...);
  }
  int runs = 0;
};

struct StopsAtOnce {
  void after_run(auto& run, const auto& /*values*/) { run.request_stop(); }
};

template <class Session>
void run_twice(Session& session) {
  session.run();
  session.run();
  session.close();
}

TEST(Ownership, ANamedExecutorIsBorrowedByEverySession) {
  Machine machine;
  const auto twice = [&](auto&& session) {
    EXPECT_EQ(&session.executor(), &machine);
    run_twice(session);
  };
  twice(MonitoredSession{machine});
  twice(MonitoredSession{machine, HookChain{}});
  twice(MonitoredSession{machine, HookChain{}, SessionOptions{}});
  twice(MonitoredSession{machine, HookChain{}, InitializeCreator{}});
  twice(MonitoredSession{machine, HookChain{}, InitializeCreator{}, SessionOptions{}});
  twice(SingularMonitoredSession{machine});
  twice(SingularMonitoredSession{machine, HookChain{}});
  twice(SingularMonitoredSession{machine, HookChain{}, SessionOptions{}});
  twice(SingularMonitoredSession{machine, HookChain{}, InitializeCreator{}});
  EXPECT_EQ(machine.runs, 18);
}

TEST(Ownership, ATemporaryOrMovedExecutorIsOwned) {
  MonitoredSession temporary{Machine{}, HookChain{}};
  run_twice(temporary);
  EXPECT_EQ(temporary.executor().runs, 2);

  Machine machine;
  SingularMonitoredSession moved{std::move(machine), HookChain{}};
  EXPECT_NE(&moved.executor(), &machine);
  run_twice(moved);
  EXPECT_EQ(moved.executor().runs, 2);
}

TEST(Ownership, RunFollowsTheSameRule) {
  Machine machine;
  run(machine, HookChain{StopsAtOnce{}});
  EXPECT_EQ(machine.runs, 1);
  EXPECT_EQ(run(Machine{}, HookChain{StopsAtOnce{}}).hook, "StopsAtOnce");
}

TEST(Ownership, AStepFunctionGivenByNameKeepsItsState) {
  int calls = 0;
  StepExecutor step{[&calls, mine = 0](auto& /*out*/) mutable { calls = ++mine; }};
  for (int session = 0; session < 2; ++session) {
    MonitoredSession again{step, HookChain{}};
    run_twice(again);
  }
  EXPECT_EQ(calls, 4);
}

}  // namespace ownership_test
}  // namespace crochet

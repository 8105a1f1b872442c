// SPDX-License-Identifier: Apache-2.0
#include <crochet/session/coordinator.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <crochet/executor/step_executor.hpp>
#include <crochet/session/run_session.hpp>

namespace crochet {
namespace {

TEST(Coordinator, KeepsTheFirstReason) {
  Coordinator coordinator;
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "");
  coordinator.request_stop("first");
  coordinator.request_stop("second");
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "first");
}

/// Lets a thread stop the session's loop.
struct StopFromAThread {
  std::thread* thread;
  void after_create_session(auto&, Coordinator& coordinator) {
    *thread = std::thread([&coordinator] { coordinator.request_stop("from a thread"); });
  }
};

TEST(Coordinator, EndsTheLoopOfASessionFromAnotherThread) {
  std::thread thread;
  MonitoredSession session{StepExecutor{[](auto&) {}}, HookChain{StopFromAThread{&thread}}};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
    s.run();  // a stop of the coordinator ends the loop; it does not forbid a last run
  });
  thread.join();
  EXPECT_EQ(session.coordinator().reason(), "from a thread");
  EXPECT_EQ(to_string(session.stop_reason()), "the coordinator: from a thread");
}

}  // namespace
}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// The system refuses to start a thread: the caller gets the error, no thread is left running, and nothing blocks.
#include "refused_threads.hpp"

#include <crochet/session/prefetch.hpp>

#include <gtest/gtest.h>

#include <string>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/kernels/team.hpp>
#include <crochet/session/run_session.hpp>

namespace crochet {
namespace {

using crochet::testing::RefusedThreads;
using crochet::testing::threads_running;

template <class Body>
std::string refused(Body&& body) {
  try {
    body();
  } catch (const ResourceExhaustedError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RefusedThreads, ATeamOfWhichOneCannotStartIsAnErrorAndEndsTheOthers) {
  for (int allowed = 0; allowed < 3; ++allowed) {
    const RefusedThreads none(allowed);
    const std::string what = refused([] { kernel::Team team(4); });
    EXPECT_NE(what.find("starts no further thread"), std::string::npos) << what;
    EXPECT_EQ(threads_running, 0) << allowed;
  }
  kernel::Team team(4);
  std::atomic<int> members = 0;
  team.run([&](kernel::Worker&) { ++members; });
  EXPECT_EQ(members, 4);
}

TEST(RefusedThreads, AThreadOfACoordinatorThatCannotStartIsNamed) {
  Coordinator coordinator;
  start_thread(coordinator, "reader", [](const std::stop_token&) {});
  {
    const RefusedThreads none(0);
    const std::string what = refused([&] { start_thread(coordinator, "writer", [] {}); });
    EXPECT_NE(what.find("the thread 'writer' cannot be started"), std::string::npos) << what;
  }
  EXPECT_FALSE(coordinator.should_stop());
  start_thread(coordinator, "writer", [] {});
  EXPECT_NO_THROW(coordinator.join());  // does not wait for a thread that never started
}

TEST(RefusedThreads, APrefetchWithoutItsThreadMakesItemsInNext) {
  int made = 0;
  Prefetch<int> items{[&](int& item) { item = ++made; }};
  Coordinator coordinator;
  {
    const RefusedThreads none(0);
    EXPECT_NE(refused([&] { items.start(coordinator); }).find("'prefetch'"), std::string::npos);
  }
  EXPECT_EQ(items.next(), 1);
  EXPECT_EQ(items.next(), 2);
  items.start(coordinator);  // starting again later works
  for (int i = 3; i < 20; ++i) EXPECT_EQ(items.next(), i);
  coordinator.request_stop();
  coordinator.join();
}

TEST(RefusedThreads, ASessionWhosePrefetchCannotStartIsNotCreated) {
  Prefetch<int> items{[](int& item) { item = 1; }};
  StepExecutor step{[](auto&) {}, input<int, "item">};
  const RefusedThreads none(0);
  const std::string what = refused([&] { MonitoredSession session{step, HookChain{items.hook()}}; });
  EXPECT_NE(what.find("'prefetch'"), std::string::npos) << what;
  EXPECT_EQ(items.next(), 1);
}

}  // namespace
}  // namespace crochet

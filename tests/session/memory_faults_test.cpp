// SPDX-License-Identifier: Apache-2.0
// Missing memory at the end of a session: its threads are stopped and joined, its executor is closed, and a destructor
// throws nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <stop_token>
#include <string_view>
#include <thread>

#include <crochet/base/diagnostics.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/threads.hpp>
#include <crochet/testing/counting_new.hpp>

namespace crochet {
namespace {

std::atomic<int> threads_stopped{0}, executors_closed{0};

struct NoStep {
  void operator()(auto&) const {}
};
struct ClosingExecutor : StepExecutor<NoStep> {
  ClosingExecutor() : StepExecutor<NoStep>(NoStep{}) {}
  void close() { ++executors_closed; }
};
struct StartsAThread {
  void after_create_session(auto&, Coordinator& coordinator) {
    start_thread(coordinator, "a thread", [](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      ++threads_stopped;
    });
  }
};
using Session = decltype(MonitoredSession{ClosingExecutor{}, HookChain{StartsAThread{}}});

/// Ends sessions by end(session), with one allocation failing each: the first, the second, and so on until none fails.
/// Returns the number of sessions.
template <class End>
int end_without_memory(End end) {
  for (int at = 0;; ++at) {
    threads_stopped = executors_closed = 0;
    auto session = std::make_unique<Session>(ClosingExecutor{}, HookChain{StartsAThread{}});
    const std::size_t before = testing::allocations();
    {
      const testing::FailingAllocations failing(static_cast<std::size_t>(at));
      end(session);
    }
    const bool all = testing::allocations() - before <= static_cast<std::size_t>(at);
    session.reset();
    EXPECT_EQ(threads_stopped, 1) << "allocation " << at;
    EXPECT_EQ(executors_closed, 1) << "allocation " << at;
    if (all || ::testing::Test::HasFailure()) return at + 1;
  }
}

class SessionMemoryFaults : public ::testing::Test {
 protected:
  SessionMemoryFaults() {
    set_diagnostic_sink([](std::string_view) {});
  }
  ~SessionMemoryFaults() override { set_diagnostic_sink(nullptr); }
};

TEST_F(SessionMemoryFaults, AtADestructorStopTheThreadsAndCloseTheExecutor) {
  EXPECT_GT(end_without_memory([](auto& session) { session.reset(); }), 2);
}

TEST_F(SessionMemoryFaults, AtCloseAreAnErrorOrNone) {
  const int sessions = end_without_memory([](auto& session) {
    try {
      session->close();
    } catch (const std::bad_alloc&) {
    }
  });
  EXPECT_GT(sessions, 1);
}

/// Fails in `end` and `on_error`, or counts them.
struct Fails {
  void end(auto&) const { throw std::bad_alloc(); }
  void on_error(const std::exception_ptr&) const { throw std::bad_alloc(); }
};
struct FailsAsWell : Fails {};
struct Counts {
  int* calls;
  void end(auto&) const { ++*calls; }
  void on_error(const std::exception_ptr&) const { ++*calls; }
};
struct FailingExecutor : ClosingExecutor {
  void close() {
    ClosingExecutor::close();
    throw std::bad_alloc();
  }
};
TEST_F(SessionMemoryFaults, OfTwoHooksLeaveTheOthersTheirEnd) {
  for (const bool fails : {false, true}) {
    executors_closed = 0;
    int calls = 0;
    MonitoredSession session{FailingExecutor{}, HookChain{Fails{}, FailsAsWell{}, Counts{&calls}}};
    const std::exception_ptr error = std::make_exception_ptr(std::bad_alloc());
    const auto end = [&] {
      const testing::FailingAllocations none(0, 1'000'000);
      fails ? session.fail(error) : session.close();
    };
    if (fails) {
      end();
    } else {
      EXPECT_THROW(end(), std::bad_alloc);
    }
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(executors_closed, 1);
    EXPECT_TRUE(session.closed());
  }
}

struct FailsInRuns {
  void after_run(auto&, const auto&) const { throw std::bad_alloc(); }
};
TEST_F(SessionMemoryFaults, OfAnIsolatedHookAreCounted) {
  MonitoredSession session{ClosingExecutor{}, HookChain{Isolated<FailsInRuns>{}}};
  session.run();
  {
    const testing::FailingAllocations none(0, 1'000'000);
    session.run();
  }
  EXPECT_EQ(session.hooks().at<0>().policy.failures(), 2);
  session.close();
}

TEST_F(SessionMemoryFaults, AtAStopLeaveOutItsReason) {
  Coordinator coordinator(nullptr);
  {
    const testing::FailingAllocations failing(0);
    coordinator.request_stop("a reason that is longer than what a string has space for without an allocation");
  }
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "");
}

}  // namespace
}  // namespace crochet

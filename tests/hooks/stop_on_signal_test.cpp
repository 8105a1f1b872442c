// SPDX-License-Identifier: Apache-2.0
#include <crochet/hooks/stop_on_signal.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <crochet/crochet.hpp>
#include <crochet/hooks/global_step_waiter.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/session/threads.hpp>
#include <crochet/testing/manual_clock.hpp>

namespace stop_on_signal_test {

namespace cr = crochet;

void (*handler_of(int signal))(int) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

class StopOnSignal : public ::testing::Test {
 protected:
  StopOnSignal() : before_(cr::set_diagnostic_sink([](std::string_view line) { said = line; })) { said.clear(); }
  ~StopOnSignal() override {
    cr::StopOnSignal::forget();
    cr::set_diagnostic_sink(before_);
    EXPECT_EQ(handler_of(SIGINT), SIG_DFL);
    EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
  }
  static inline std::string said;

 private:
  cr::DiagnosticSink before_;
};

struct CountsEnds {
  int* ends;
  void end(auto&) { ++*ends; }
};

TEST_F(StopOnSignal, FinishesTheStepThenEndsTheSession) {
  int steps = 0, ends = 0;
  cr::StepExecutor step{[&](auto&) {
    if (steps == 2) std::raise(SIGTERM);
    ++steps;
  }};
  const cr::StopReason why = cr::run(step, cr::HookChain{cr::StopOnSignal{}, CountsEnds{&ends}});
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(to_string(why), "StopOnSignal: SIGTERM");
  EXPECT_EQ(why.step, 3);
  EXPECT_EQ(said, "crochet: stopped at step 3 by StopOnSignal: SIGTERM");
  EXPECT_EQ(cr::StopOnSignal::exit_code(), 143);
}

TEST_F(StopOnSignal, ASignalBetweenTwoStepsIsSeenBeforeTheNext) {
  int steps = 0;
  cr::MonitoredSession session{cr::StepExecutor{[&](auto&) { ++steps; }}, cr::HookChain{cr::StopOnSignal{}}};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      s.run();
      std::raise(SIGINT);
    }
  });
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(to_string(session.stop_reason()), "StopOnSignal: SIGINT");
  EXPECT_EQ(cr::StopOnSignal::exit_code(), 130);
}

TEST_F(StopOnSignal, WithoutASignalTheExitCodeIsZeroAndTheHandlersAreGivenBack) {
  cr::MonitoredSession session{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
  EXPECT_NE(handler_of(SIGINT), SIG_DFL);
  session.close();
  EXPECT_EQ(handler_of(SIGINT), SIG_DFL);
  EXPECT_EQ(cr::StopOnSignal::exit_code(), 0);
}

TEST_F(StopOnSignal, AnErrorAndADestructorGiveThemBackToo) {
  {
    cr::MonitoredSession session{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
    session.fail(std::make_exception_ptr(cr::DataError("x")));
    EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
  }
  {
    cr::MonitoredSession never_closed{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
  }
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
}

TEST_F(StopOnSignal, TwoSessionsShareTheHandlers) {
  cr::MonitoredSession outer{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
  cr::MonitoredSession inner{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
  inner.close();
  EXPECT_NE(handler_of(SIGINT), SIG_DFL);
  std::raise(SIGINT);
  EXPECT_TRUE(outer.should_stop());
  outer.close();
}

TEST_F(StopOnSignal, ASecondSignalKills) {
  const auto twice = [](int first, int second) {
    cr::MonitoredSession session{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
    std::raise(first);
    std::raise(second);
  };
  EXPECT_EXIT(twice(SIGINT, SIGINT), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGINT, SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

/// Raises two signals `ns` apart, as kill() of another process does.
void kill_twice(int first, int second, std::int64_t ns) {
  static std::int64_t now;
  now = 5;
  cr::detail::signal_clock.store([] { return now; });
  cr::MonitoredSession session{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}}};
  kill(getpid(), first);
  now += ns;
  kill(getpid(), second);
  session.close();
  _exit(cr::StopOnSignal::exit_code());
}
// The timeout of coreutils sends its signal to the child and to the group of processes.
TEST_F(StopOnSignal, ASignalThatAProgramSendsTwiceIsOne) {
  constexpr std::int64_t second = 1'000'000'000;
  EXPECT_EXIT(kill_twice(SIGTERM, SIGTERM, 0), ::testing::ExitedWithCode(143), "");
  EXPECT_EXIT(kill_twice(SIGTERM, SIGTERM, second - 1), ::testing::ExitedWithCode(143), "");
  EXPECT_EXIT(kill_twice(SIGTERM, SIGTERM, second), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(kill_twice(SIGTERM, SIGINT, 0), ::testing::KilledBySignal(SIGINT), "");
}
TEST_F(StopOnSignal, ASignalOfTheKeyboardIsNotARepetition) {
  cr::detail::first_signal_ns.store(5);
  cr::detail::signal_clock.store([] { return std::int64_t{6}; });
  EXPECT_FALSE(cr::detail::repeats_first_signal(SIGINT, SIGINT, SI_KERNEL));
  EXPECT_TRUE(cr::detail::repeats_first_signal(SIGINT, SIGINT, SI_QUEUE) &&
              !cr::detail::repeats_first_signal(SIGINT, SIGTERM, SI_QUEUE));
  cr::detail::signal_clock.store(&cr::detail::signal_clock_ns);
}

// ---- Every wait of the library ends

/// A clock that raises a signal after 60 seconds.
struct Signalled : cr::testing::ManualClock {
  void sleep(double seconds) {
    advance(seconds);
    if ((*this)() >= 60) cr::detail::received_signal.store(SIGTERM);
  }
};

TEST_F(StopOnSignal, EndsTheWaitForASession) {
  Signalled clock;
  auto never = cr::Scaffold{}.with_ready([](auto&) { return false; });
  EXPECT_THROW((cr::MonitoredSession{cr::StepExecutor{[](auto&) {}}, cr::HookChain{cr::StopOnSignal{}},
                                     cr::WorkerSessionCreator{never, 1800, {.clock = clock}}}),
               cr::CancelledError);
  EXPECT_EQ(clock(), 60);
}

TEST_F(StopOnSignal, EndsTheWaitForTheCoordinator) {
  Signalled clock;
  cr::Coordinator coordinator;
  EXPECT_FALSE(coordinator.wait_for_stop(50, clock));
  EXPECT_TRUE(coordinator.wait_for_stop(1000, clock));
}

TEST_F(StopOnSignal, EndsTheThreadsThatAJoinWaitsFor) {
  cr::Coordinator coordinator;
  cr::start_thread(coordinator, "waits", [](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  cr::detail::received_signal.store(SIGTERM);
  EXPECT_NO_THROW(coordinator.join(60));
}

TEST_F(StopOnSignal, CutsShortThePauseBeforeARecovery) {
  cr::testing::ManualClock clock;
  int runs = 0;
  cr::StepExecutor step{[&](auto&) {
    if (++runs > 1) return;
    std::raise(SIGTERM);
    throw cr::AbortedError("x");
  }};
  cr::MonitoredSession session{step, cr::HookChain{cr::StopOnSignal{}},
                               cr::SessionOptions{.recovery = {.initial_backoff_secs = 20}, .clock = clock}};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  EXPECT_EQ(clock(), 0);
  EXPECT_EQ(runs, 2);  // the save at the end needs a session
}

TEST_F(StopOnSignal, EndsTheWaitForTheGlobalStep) {
  int naps = 0;
  cr::GlobalStepWaiter waiter{.wait_until_step = 10};
  waiter.sink = [](std::string_view) {};
  waiter.sleep = [&](double) {
    if (++naps == 3) std::raise(SIGTERM);
  };
  int steps = 0;
  const cr::StopReason why =
      cr::run(cr::StepExecutor{[&](auto&) { ++steps; }}, cr::HookChain{cr::StopOnSignal{}, waiter});
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(naps, 3);
  EXPECT_EQ(cr::StopOnSignal::exit_code(), 143);
}

}  // namespace stop_on_signal_test

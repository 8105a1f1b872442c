// SPDX-License-Identifier: Apache-2.0
// Sessions on a compiled model, with real initialization, readiness checks and recovery.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include <crochet/hook/phase_log.hpp>
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "device_under_test.hpp"

namespace crochet {
namespace session_test {

using crochet::testing::ManualClock;

/// w := w - 0.5 * d/dw (w^2 / 2), from an initial value that depends on the seed.
struct Halving {
  static constexpr void define(GraphBuilder& g) {
    const auto w = g.variable<float>("w", {4}, glorot_uniform());
    const auto loss = g.name("loss", reduce_sum(w * w) * 0.5f);
    g.name("train", minimize(loss, SGD{.learning_rate = 0.5f}));
  }
};
auto halving() { return DeviceUnderTest{.threads = 1, .seed = 7}.compile<Halving>(); }
float loss_of(auto& session) { return session.run(no_hooks, fetches<"loss">)["loss"_n]; }

class CpuSession : public ::testing::Test {
 protected:
  CpuSession() : before_(set_diagnostic_sink([](std::string_view) {})) {}
  ~CpuSession() override { set_diagnostic_sink(before_); }
  ManualClock clock_;
  SessionOptions options_{.clock = clock_};

 private:
  DiagnosticSink before_;
};

TEST_F(CpuSession, WithoutAnInitializationItSaysWhichVariablesHaveNoValue) {
  const auto nothing = [](auto&) {};
  try {
    MonitoredSession session{halving(), HookChain{}, ChiefSessionCreator{Scaffold{}.with_init(nothing)}};
    FAIL() << "the constructor must throw";
  } catch (const FailedPreconditionError& error) {
    EXPECT_NE(std::string_view(error.what()).find("missing: w"), std::string_view::npos) << error.what();
  }
}

TEST_F(CpuSession, ReadingAVariableWithoutAValueIsAnErrorThatNamesIt) {
  const auto nothing = [](auto&) {};
  const auto ready = [](auto&) { return true; };
  MonitoredSession session{halving(), HookChain{},
                           ChiefSessionCreator{Scaffold{}.with_init(nothing).with_ready(ready)}};
  try {
    session.run("train"_n);
    FAIL() << "run must throw";
  } catch (const UninitializedError& error) {
    EXPECT_NE(std::string_view(error.what()).find('w'), std::string_view::npos) << error.what();
  }
  session.close();
}

/// Fails after `runs` successful runs.
struct FailsAfter {
  int runs = 0;
  void before_run(auto&) {
    if (runs-- == 0) throw AbortedError("machine gone");
  }
};

TEST_F(CpuSession, ALostSessionIsInitializedAnewAndTheRunRepeated) {  // S7
  MonitoredSession session{halving(), HookChain{FailsAfter{.runs = 3}}, options_};
  const float first = loss_of(session);
  for (int i = 0; i < 3; ++i) session.run("train"_n);
  EXPECT_LT(loss_of(session), first / 8);
  session.run("train"_n);  // lost; then one step from the initial values
  EXPECT_FLOAT_EQ(loss_of(session), first / 4);
  EXPECT_EQ(session.recoveries(), 1);
  session.close();
}

TEST_F(CpuSession, InitFnSetsWhatTheInitializationDoesNotKnow) {  // S3
  const auto pretrained = [](auto& session) {
    for (float& each : session.executor().variable("w"_n)) each = 1;
  };
  MonitoredSession session{halving(), HookChain{}, ChiefSessionCreator{Scaffold{}.with_init_fn(pretrained)}};
  EXPECT_FLOAT_EQ(loss_of(session), 2);
  session.close();
}

/// w := w - rate * d/dw (w^2 / 2).
struct FedRate {
  static constexpr void define(GraphBuilder& g) {
    const auto rate = g.placeholder<float>("rate", {});
    const auto w = g.variable<float>("w", {4}, glorot_uniform());
    g.name("train", minimize(reduce_sum(w * w) * 0.5f, SGD{.learning_rate = rate}));
  }
};
/// Its log is due in every second run.
struct LogsPhases {
  PhaseLog* log;
  int runs = 0;
  PhaseLog* due_phase_log() { return ++runs % 2 == 0 ? log : nullptr; }
  void before_run(auto&) const {}
};

TEST_F(CpuSession, TheCallerFetchesARateThatAHookFeeds) {
  PhaseLog log(clock_);
  float rate = 0;
  MonitoredSession session{DeviceUnderTest{.threads = 1, .seed = 7}.compile<FedRate>(),
                           HookChain{FeedFn{[&rate] { return feed<"rate">(rate += 0.125f); }}, LogsPhases{&log}}};
  for (int run = 1; run <= 4; ++run) {
    EXPECT_EQ(session.run(fetches<"rate">, "train"_n)["rate"_n], rate) << "run " << run;
  }
  session.close();
}

/// A clock that simulates the chief: at 60 seconds it initializes the shared variables.
template <class E>
struct ChiefAtWork : ManualClock {
  E* shared = nullptr;
  void sleep(double seconds) {
    advance(seconds);
    if ((*this)() == 60) shared->initialize();
  }
};

TEST_F(CpuSession, AWorkerWaitsForTheVariablesThatItSharesWithTheChief) {
  auto shared = halving();
  ChiefAtWork<decltype(shared)> clock;
  clock.shared = &shared;
  MonitoredSession<decltype(shared)&, HookChain<>, WorkerSessionCreator<>> session{
      shared, HookChain{}, WorkerSessionCreator{Scaffold{}, 1800, {.clock = clock}}};
  EXPECT_EQ(clock(), 60);
  session.run("train"_n);
  session.close();
}

}  // namespace session_test
}  // namespace crochet

// SPDX-License-Identifier: Apache-2.0
// Sessions over a step function: recovery, steps of several runs, prefetch, creators.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <string_view>

#include <crochet/session/prefetch.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/session/threads.hpp>

namespace sessions_test {

namespace cr = crochet;
using namespace cr::literals;

class Sessions : public ::testing::Test {
 protected:
  Sessions() : before_(cr::set_diagnostic_sink([](std::string_view) {})) {}
  ~Sessions() override {
    cr::set_diagnostic_sink(before_);
    cr::StopOnSignal::forget();
  }
  double x_ = 0;
  int lost_in_run_ = 0, runs_ = 0;
  auto executor() {
    return cr::StepExecutor{[this](auto& out) {
                              if (++runs_ == lost_in_run_) throw cr::UnavailableError("device 0 does not answer");
                              out["loss"_n] = x_ += out.input("by"_n, 1.0);
                            },
                            cr::output<double, "loss">, cr::input<double, "by">};
  }

 private:
  cr::DiagnosticSink before_;
};

TEST_F(Sessions, ALoopOfYourOwnThatSurvives) {
  lost_in_run_ = 3;
  cr::MonitoredSession session{executor(), cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 20}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::feed<"by">(2.0));
  });
  EXPECT_EQ(x_, 40);
  EXPECT_EQ(to_string(session.stop_reason()), "StopAtStep: step 20 was reached");
  EXPECT_EQ(session.stop_reason().step, 20);
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(cr::StopOnSignal::exit_code(), 0);
}

TEST_F(Sessions, BoundsOfRecovery) {
  lost_in_run_ = 1;
  cr::MonitoredSession session{
      executor(), cr::HookChain{},
      cr::SessionOptions{.stop_grace_period_secs = 30, .recovery = {.max_attempts = 0, .initial_backoff_secs = 1}}};
  EXPECT_THROW(cr::run_session(session, [](auto& s) { s.run(); }), cr::UnavailableError);
}

TEST_F(Sessions, AStepOfMoreThanOneRun) {
  lost_in_run_ = 2;
  cr::MonitoredSession session{executor(), cr::HookChain{}};
  double loss = 0;
  cr::run_session(session, [&](auto& s) {
    loss = s.run_step_fn([&](auto& step) {
      step.session().run(cr::feed<"by">(10.0));  // without hooks
      return step.run_with_hooks(cr::fetches<"loss">)["loss"_n];
    });
  });
  EXPECT_EQ(loss, 21);  // the first attempt's 10 stays: a repeated step is not rolled back
  EXPECT_EQ(session.step(), 1);
}

TEST_F(Sessions, ItemsMadeAheadOfTheLoop) {
  double next = 0;
  cr::Prefetch<double> items{[&](double& item) {
    if (next == 5) throw cr::OutOfRangeError{};
    item = ++next;
  }};
  cr::MonitoredSession session{executor(), cr::HookChain{items.hook()}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::feed<"by">(items.next()));
  });
  EXPECT_EQ(x_, 1 + 2 + 3 + 4 + 5);
  EXPECT_EQ(session.stop_reason().hook, "the data");
}

TEST_F(Sessions, ACreatorWithPieces) {
  auto scaffold = cr::Scaffold{}.with_init_fn([this](auto&) { x_ = 100; });
  cr::MonitoredSession session{executor(), cr::HookChain{cr::StopAtStep{.last_step = 1}},
                               cr::ChiefSessionCreator{scaffold}};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  EXPECT_EQ(x_, 101);
}

}  // namespace sessions_test
